/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happened when, of pages and of the live page: who had the CPUs (parts.js), or a heat map of events, in which a
 * column is a second, and its rows are the bins within it, the first at the top. Dragging picks a range, with Shift the
 * one to compare with. The wheel zooms, and with Shift scrolls.
 */

const HEAT_HEIGHT = 60, AXIS_HEIGHT = 16;

function make(tag, attributes, ...children) {
	const made = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (name in made) made[name] = value;
		else made.setAttribute(name, value);
	}
	made.append(...children);
	return made;
}

/* The seconds within a time in ms, at least one: [from, to]; the first one is number `oldest`. */
function ticksIn(seconds, oldest, start, end) {
	let from = seconds.findIndex((it) => it.at - it.ms / 2 >= start), to = from;
	if (from < 0) from = to = seconds.length - 1;
	while (to + 1 < seconds.length && seconds[to + 1].at - seconds[to + 1].ms / 2 < end) to++;
	return [oldest + from, oldest + Math.max(from, to)];
}

function clock(ms) {
	const seconds = Math.floor(ms / 1000), minutes = Math.floor(seconds / 60);
	return `${minutes}:${String(seconds % 60).padStart(2, "0")}`;
}

/* The time of day, here, of a time in ms since the start; "" if it is not known when that was. */
function timeOfDay(start, ms) {
	const at = new Date(Date.parse(start || "") + ms);
	return Number.isNaN(at.getTime()) ? "" : at.toLocaleTimeString("en-GB");
}

/* "0:12 to 0:20 (14:03:12 to 14:03:20)": a span in ms since the start. */
function timesText(start, span) {
	const days = span.map((ms) => timeOfDay(start, ms));
	return span.map(clock).join(" to ") + (days[0] ? ` (${days.join(" to ")})` : "");
}

function rgb(text) {
	const [, r, g, b] = /^#(..)(..)(..)$/.exec(text.trim()) || [0, "80", "80", "80"];
	return [parseInt(r, 16), parseInt(g, 16), parseInt(b, 16)];
}

class Timeline {
	/*
	 * `picked` is called with the range, from and to in ms, and whether to compare with it. At
	 * least `least` seconds are visible, and at most `most`.
	 */
	constructor(element, picked, { least, most }) {
		this.least = least;
		this.most = most;
		this.element = element;
		this.picked = picked;
		this.model = null;
		this.bands = {}; /* [from, to] in ms, or null: of what is shown, compared with, being picked */
		this.spanWanted = 0; /* seconds; 0: all, up to 300 */
		this.back = 0; /* seconds between its right end and now */
		this.canvas = document.createElement("canvas");
		this.heat = document.createElement("canvas");
		this.context = this.canvas.getContext("2d");
		this.parts = new Parts();
		this.as = "parts"; /* or "heat" */
		this.legend = make("div", { className: "parts" });
		element.append(this.canvas, this.legend);
		this.legend.addEventListener("click", (event) => this.chosen(event.target.closest("button")));
		whenFiltered.push(() => this.later());
		new ResizeObserver(() => this.later()).observe(element);
		this.canvas.addEventListener("pointerdown", (event) => this.pressed(event));
		this.canvas.addEventListener("pointermove", (event) => this.moved(event));
		this.canvas.addEventListener("pointerup", (event) => this.released(event));
		this.canvas.addEventListener("pointercancel", () => this.drop());
		this.canvas.addEventListener("pointerleave", () => this.point(null));
		this.canvas.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
	}
	show(model, bands) {
		this.model = model;
		this.bands = { ...bands, drag: this.bands.drag };
		this.later();
	}
	/* A list of the ways to show it, for a row of controls; it is hidden where there is one only. */
	choice() {
		this.list = make("select", { id: "timeline-as", title: "What the timeline shows" },
			option("parts", "by process"), option("heat", "in parts of a second"));
		this.list.addEventListener("change", () => {
			this.as = this.list.value;
			this.later();
		});
		addressParts.push({ name: "timeline", get: () => this.as === "heat" ? "heat" : "", set: (text) => {
			this.as = this.list.value = text === "heat" ? "heat" : "parts";
			this.later();
		} });
		return make("label", {}, "Timeline ", this.list);
	}
	showsParts() {
		return this.as === "parts" && this.model.tellsWho;
	}
	later() {
		if (this.asked) return;
		this.asked = true;
		requestAnimationFrame(() => {
			this.asked = false;
			this.paint();
		});
	}

	/* ---- positions ---- */

	get seconds() {
		return Math.ceil(this.model.now / 1000);
	}
	/* The first visible second, and how many are visible. */
	window() {
		const all = this.seconds, span = Math.max(this.spanWanted || Math.min(all, 300), this.least);
		const back = Math.max(0, Math.min(this.back, all - span));
		return [Math.max(0, all - span - back), span];
	}
	xOf(ms) {
		const [first, span] = this.window();
		return (ms / 1000 - first) / span * this.width;
	}
	timeAt(event) {
		const [first, span] = this.window(), box = this.canvas.getBoundingClientRect();
		const ms = (first + (event.clientX - box.left) / box.width * span) * 1000;
		return Math.max(0, Math.min(ms, this.model.now));
	}

	/* ---- drawing ---- */

	resize() {
		const ratio = window.devicePixelRatio || 1, width = this.element.clientWidth;
		const height = HEAT_HEIGHT + AXIS_HEIGHT;
		if (width === this.width && ratio === this.ratio) return;
		Object.assign(this, { width, ratio });
		this.canvas.width = Math.round(width * ratio);
		this.canvas.height = Math.round(height * ratio);
		this.canvas.style.width = width + "px";
		this.canvas.style.height = height + "px";
	}
	paint() {
		if (!this.model || !this.element.clientWidth) return;
		this.resize();
		const { context, width } = this, style = getComputedStyle(document.documentElement);
		const ink = (name) => style.getPropertyValue("--" + name).trim();
		context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		context.clearRect(0, 0, width, HEAT_HEIGHT + AXIS_HEIGHT);
		context.fillStyle = ink("raised");
		context.fillRect(0, 0, width, HEAT_HEIGHT);
		if (this.list) this.list.parentNode.hidden = !this.model.tellsWho;
		if (this.showsParts()) this.paintParts(ink);
		else this.paintHeat(rgb(ink("raised")), rgb(ink("heat")), rgb(ink("hottest")));
		this.legend.hidden = !this.showsParts();
		this.paintAxis(ink);
		this.paintBand(this.bands.then, ink("then"), "then");
		this.paintBand(this.bands.now, ink("accent"), this.bands.then ? "now" : "");
		this.paintBand(this.bands.drag, ink("text"), "");
	}
	/* Bars of a second, or of several that take two pixels together. */
	paintParts(ink) {
		const { context, model, width, parts } = this, [first, span] = this.window(), least = Math.ceil(2 * span / width) * 1000;
		const found = parts.bars(model, first * 1000, (first + span) * 1000, least, state.filter);
		const peak = parts.paint(context, found, (ms) => this.xOf(ms), 0, HEAT_HEIGHT);
		context.font = '11px system-ui, "DejaVu Sans", sans-serif';
		context.textBaseline = "middle";
		this.scaleText = peak > 0 ? `${amountText(peak, model.head)} ${amountUnit(model.head)}` : "";
		if (peak > 0) {
			context.globalAlpha = 0.75;
			context.fillStyle = ink("back");
			context.fillRect(width - context.measureText(this.scaleText).width - 8, 1, width, 15);
			context.globalAlpha = 1;
			context.fillStyle = ink("text");
			context.fillText(this.scaleText, width - context.measureText(this.scaleText).width - 4, 9);
		}
		this.tellParts(found.first);
	}
	/* The legend has the amounts of what the graph shows. */
	tellParts(first) {
		const { model, parts, legend } = this, [from, to] = this.bands.now || [0, model.now];
		const seconds = model.seconds.filter((it) => it.at - it.ms / 2 >= from && it.at - it.ms / 2 < to);
		const entries = parts.legend(model, seconds, first, state.filter);
		const text = JSON.stringify(entries);
		if (text === this.told) return;
		this.told = text;
		legend.title = `${amountUnit(model.head)}, in what the graph shows`;
		legend.replaceChildren(...entries.map(({ label, text: amount, colour, comm, tgid }) => {
			const box = make("i", {});
			box.style.setProperty("--colour", colour);
			return comm === null ? make("span", {}, box, `${label} `, make("b", {}, amount))
				: make("button", { title: `Show only ${label}`, value: JSON.stringify([comm, tgid]) }, box, `${label} `, make("b", {}, amount));
		}), make("span", { className: "unit" }, amountUnit(model.head)));
	}
	/* A press on a process of the legend shows only it, or all again. */
	chosen(button) {
		const process = element("process");
		if (!button) return;
		process.value = process.value === button.value ? "" : button.value;
		if (process.selectedIndex >= 0) process.dispatchEvent(new Event("change", { bubbles: true }));
	}
	/* Colours of bins: `none` without events, then `some`, up to `most`. */
	paintHeat(none, some, most) {
		const { model } = this, [first, span] = this.window(), rows = 1000 / model.binMs;
		const image = new ImageData(span, rows), bins = model.bins.values, peak = this.peak(first, span, rows);
		for (let column = 0; column < span; column++) {
			for (let row = 0; row < rows; row++) {
				const bin = (first + column) * rows + row, at = (row * span + column) * 4;
				const heat = bin < model.bins.n ? Math.min(1, bins[bin] / peak) ** 0.75 : 0;
				const [from, to, part] = heat < 0.7 ? [none, some, heat / 0.7] : [some, most, (heat - 0.7) / 0.3];
				for (let i = 0; i < 3; i++) image.data[at + i] = from[i] + (to[i] - from[i]) * part;
				image.data[at + 3] = 255;
			}
		}
		this.heat.width = span;
		this.heat.height = rows;
		this.heat.getContext("2d").putImageData(image, 0, 0);
		this.context.imageSmoothingEnabled = span * 2 > this.width * this.ratio;
		this.context.drawImage(this.heat, 0, 0, this.width, HEAT_HEIGHT);
	}
	/* The 99th percentile of the visible bins, so that one burst does not make all others pale. */
	peak(first, span, rows) {
		const { bins } = this.model;
		const seen = bins.values.slice(Math.min(first * rows, bins.n), Math.min((first + span) * rows, bins.n)).sort();
		return Math.max(1, seen.length ? seen[Math.floor((seen.length - 1) * 0.99)] : 1);
	}
	paintAxis(ink) {
		const { context, width } = this, [first, span] = this.window();
		const step = [5, 10, 15, 30, 60, 120, 300, 600].find((it) => it / span * width >= 80) || 600;
		/* Where it is known, the time of day: alerts have that. */
		const began = Date.parse(this.model.startTime || ""), zone = Number.isNaN(began) ? 0
			: (began / 1000 - new Date(began).getTimezoneOffset() * 60) % step;
		context.font = '11px system-ui, "DejaVu Sans", sans-serif';
		context.textBaseline = "middle";
		context.fillStyle = ink("quiet");
		for (let second = Math.ceil((first + zone) / step) * step - zone; second <= first + span; second += step) {
			const x = this.xOf(second * 1000), text = timeOfDay(this.model.startTime, second * 1000 + 1) || clock(second * 1000);
			context.fillRect(x, HEAT_HEIGHT, 1, 4);
			if (x + 3 + context.measureText(text).width < width) context.fillText(text, x + 3, HEAT_HEIGHT + AXIS_HEIGHT / 2 + 1);
		}
	}
	paintBand(band, colour, label) {
		if (!band) return;
		const { context, width } = this;
		const left = Math.max(0, this.xOf(band[0])), right = Math.min(width, this.xOf(band[1]));
		if (right <= 0 || left >= width) return;
		context.globalAlpha = this.showsParts() ? 0.05 : 0.14; /* the colours of parts have a meaning */
		context.fillStyle = colour;
		context.fillRect(left, 0, Math.max(right - left, 2), HEAT_HEIGHT);
		context.globalAlpha = 1;
		context.fillRect(left, HEAT_HEIGHT - 1, Math.max(right - left, 2), 3);
		context.fillRect(left, 0, 1.5, HEAT_HEIGHT);
		context.fillRect(Math.max(right - 1.5, left), 0, 1.5, HEAT_HEIGHT);
		if (!label) return;
		context.font = 'bold 11px system-ui, "DejaVu Sans", sans-serif';
		const wide = context.measureText(label).width + 8, x = Math.min(left, width - wide);
		context.fillRect(x, 0, wide, 15);
		context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--back");
		context.fillText(label, x + 4, 8);
	}

	/* ---- pointer and wheel ---- */

	pressed(event) {
		if (!this.model || event.button !== 0) return;
		this.canvas.setPointerCapture(event.pointerId);
		this.anchor = this.timeAt(event);
		this.bands.drag = [this.anchor, this.anchor];
	}
	moved(event) {
		if (!this.model) return;
		const at = this.timeAt(event);
		this.point(at);
		if (!this.bands.drag) return;
		this.bands.drag = [Math.min(at, this.anchor), Math.max(at, this.anchor)];
		this.later();
	}
	released(event) {
		const { drag } = this.bands;
		this.drop();
		if (drag) this.picked(drag[0], drag[1], event.shiftKey);
	}
	drop() {
		this.bands.drag = null;
		this.later();
	}
	/* Sets the tooltip. */
	point(at) {
		if (at === null || !this.model.seconds.length) {
			this.element.title = "";
			return;
		}
		const second = this.model.second(this.model.ticksIn(at - 500, at)[0]);
		const day = timeOfDay(this.model.startTime, at);
		this.element.title = `${clock(at)}${day && ` (${day})`}: ${quantity(second.samples, this.model.head.unit)}` +
			(second.lost ? `, ${numberFormat.format(second.lost)} lost` : "");
	}
	wheeled(event) {
		if (!this.model) return;
		const [, span] = this.window(), way = Math.sign(event.deltaY || event.deltaX);
		if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
			this.back = Math.max(0, Math.min(this.back - way * Math.ceil(span / 10), this.seconds - span));
		else
			this.spanWanted = Math.round(Math.max(this.least, Math.min(span * (way > 0 ? 1.25 : 0.8), this.most)));
		event.preventDefault();
		this.later();
	}
}
