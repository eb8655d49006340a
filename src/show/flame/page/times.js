/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A report that tells when: its timeline, and the graph of a range of it. The live page has ranges
 * of its own (live.js), as its data grows.
 */

const WHOLE_TIME = "All the time", COMPARE_RANGE = "Compare with this", END_COMPARISON = "End comparison";
/* So many seconds of a measurement that has them are visible. */
const LEAST_SECONDS = 10;

/* What a Timeline shows: seconds by number from 1, and bins. */
class Times {
	constructor(data) {
		const { seconds, binMs, bins } = data.times, last = seconds[seconds.length - 1];
		this.data = data;
		this.head = data.head;
		this.seconds = seconds; /* {at, ms, samples, lost, counts: [twice a node (+ 1: left out), count, ...]} */
		this.now = Math.max(last.at, bins.length * binMs);
		this.binMs = binMs;
		this.bins = { values: bins, n: bins.length };
		if (!bins.length) this.binsOfSeconds();
		this.range = null; /* {from, to}, by number; null: all */
		this.then = null; /* the range that is compared with; or null */
		this.startTime = data.head.start;
		this.tellsWho = data.frames.some((frame) => frame.kind === KIND.WHO);
	}
	partsOf(second, filter) {
		const { n, parent, frame, frames } = this.data, frameOf = (node) => node > 0 ? frames[frame[node]] : null;
		if (!this.who) this.who = whoNodes(parent, n, (node) => frameOf(node).kind === KIND.WHO);
		return partsOfSecond(second, filter, (number) => number >> 1, this.who, parent, frameOf);
	}
	binsOfSeconds() {
		const values = new Float64Array(Math.min(Math.ceil(this.now / 1000), 100000));
		for (const { at, ms, samples } of this.seconds) values[Math.floor((at - ms / 2) / 1000)] += samples;
		this.binMs = 1000;
		this.bins = { values, n: values.length };
	}
	get oldest() {
		return 1;
	}
	second(number) {
		return this.seconds[number - 1];
	}
	span({ from, to }) {
		return [this.second(from).at - this.second(from).ms, this.second(to).at];
	}
	/* How long it was measured in a range. */
	msOf({ from, to }) {
		return this.seconds.slice(from - 1, to).reduce((sum, { ms }) => sum + ms, 0);
	}
	ticksIn(start, end) {
		return ticksIn(this.seconds, 1, start, end);
	}
	/* The counts of a range, as readCounts() has them. */
	countsOf({ from, to }) {
		const { n, parent } = this.data, total = new Float64Array(n), self = new Float64Array(n);
		for (let number = from; number <= to; number++) {
			const { counts } = this.second(number);
			for (let i = 0; i < counts.length; i += 2) {
				const node = counts[i] >> 1;
				total[node] += counts[i + 1];
				if (!(counts[i] & 1)) self[node] += counts[i + 1];
			}
		}
		addUp(total, parent);
		return { total, self };
	}
	/* The data of what is chosen, with the nodes that have counts there. */
	shown() {
		const { data, range, then } = this, all = { from: 1, to: this.seconds.length };
		if (!range && !then) return data;
		const now = this.countsOf(range || all), base = then ? this.countsOf(then) : null;
		const text = (it) => timesText(this.startTime, this.span(it));
		const where = text(range || all) + (then ? ` compared with ${text(then)}` : "");
		const head = { ...data.head, compare: then !== null, shares: true, spanMs: this.msOf(range || all),
			subtitle: [data.head.subtitle, where].filter(Boolean).join("  \u00b7  ") };
		return { head, frames: data.frames, ...pickNodes(data, now, base) };
	}
}

/* The tree of the nodes that have counts. */
function pickNodes(tree, now, base) {
	const has = (i) => i === 0 || now.total[i] > 0 || (base !== null && base.total[i] > 0);
	const number = new Uint32Array(tree.n), kept = [];
	for (let i = 0; i < tree.n; i++) if (has(i)) number[i] = kept.push(i) - 1;
	const n = kept.length, pick = (from, type) => type.from(kept, (i) => from[i]);
	const picked = { n, depth: pick(tree.depth, Uint32Array), frame: pick(tree.frame, Uint32Array),
		parent: Uint32Array.from(kept, (i) => number[tree.parent[i]]), end: new Uint32Array(n),
		total: pick(now.total, Float64Array), self: pick(now.self, Float64Array),
		base: base ? pick(base.total, Float64Array) : null, baseSelf: base ? pick(base.self, Float64Array) : null };
	picked.deepest = picked.depth.reduce((most, depth) => Math.max(most, depth), 0);
	for (let i = n - 1; i >= 0; i--) {
		if (picked.end[i] === 0) picked.end[i] = i + 1;
		if (i > 0 && picked.end[picked.parent[i]] < picked.end[i]) picked.end[picked.parent[i]] = picked.end[i];
	}
	return picked;
}

/* Seconds by number, in the address. */
function rangeText(range) {
	return range ? `${range.from}-${range.to}` : "";
}

/* The controls and the timeline above the graph. */
class TimesPanel {
	constructor(show) {
		this.show = show;
		this.times = null;
		this.all = make("button", { id: "whole-time", disabled: true, onclick: () => this.choose(null) }, WHOLE_TIME);
		this.compare = make("button", { id: "compare", disabled: true,
			title: "Compare what is picked next with what is shown now (t)", onclick: () => this.compareWith() }, COMPARE_RANGE);
		const section = make("section", { id: "timeline", tabIndex: 0,
			ariaLabel: "Activity over time: arrows pick a second" });
		document.querySelector(".controls").after(
			make("div", { id: "time-controls", className: "controls" }, this.all, this.compare,
				make("span", { className: "hint" },
					"Drag to show a range of time, with Shift to compare with it. The wheel zooms the timeline.")),
			section);
		this.timeline = new Timeline(section, (start, end, compare) => {
			const [from, to] = this.times.ticksIn(start, end);
			if (compare) this.compareWith({ from, to });
			else this.choose({ from, to });
		}, { least: LEAST_SECONDS, most: 3600 });
		this.compare.after(this.timeline.choice());
		section.addEventListener("keydown", (event) => this.step(event));
		for (const of of ["range", "then"]) addressParts.push({ name: of, get: () => rangeText(this.times[of]),
			set: (text) => this.restore(of, text) });
	}
	open(times) {
		this.times = times;
		this.timeline.least = Math.min(LEAST_SECONDS, Math.ceil(times.now / 1000));
		this.tell();
	}
	choose(range) {
		this.times.range = range;
		this.update();
	}
	/* A range is not compared with itself: all the time is. */
	compareWith(range) {
		const { times } = this;
		if (range) times.then = range;
		else times.then = times.then ? null : times.range;
		if (times.then && times.range && times.then.from === times.range.from && times.then.to === times.range.to)
			times.range = null;
		this.update();
	}
	/* From the address: "12-20", or "". */
	restore(of, text) {
		const { times } = this, [, from, to] = /^(\d+)-(\d+)$/.exec(text) || [0, 0, 0], n = times.seconds.length;
		const range = 1 <= from && Number(from) <= Number(to) && to <= n ? { from: Number(from), to: Number(to) } : null;
		if (rangeText(range) === rangeText(times[of])) return;
		times[of] = range;
		this.update();
	}
	step(event) {
		const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key], { times } = this, { range } = times;
		const last = times.seconds.length, inside = (number) => Math.max(1, Math.min(number, last));
		if (!by) return;
		event.preventDefault();
		event.stopPropagation();
		if (!range) this.choose(by > 0 ? { from: 1, to: 1 } : { from: last, to: last });
		else if (event.shiftKey) this.choose({ from: range.from, to: Math.max(range.from, inside(range.to + by)) });
		else if (range.from + by >= 1 && range.to + by <= last) this.choose({ from: range.from + by, to: range.to + by });
	}
	update() {
		this.show(this.times.shown());
		this.tell();
	}
	tell() {
		const { times } = this, band = (it) => it && times.span(it);
		this.all.disabled = !times.range && !times.then;
		this.compare.disabled = !times.range && !times.then;
		this.compare.textContent = times.then ? END_COMPARISON : COMPARE_RANGE;
		this.timeline.show(times, { now: band(times.range), then: band(times.then) });
	}
}
