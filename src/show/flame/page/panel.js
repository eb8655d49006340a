/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One flame graph on a canvas: as high as its box on the page, which scrolls over rows that would
 * not fit. Boxes narrower than half a pixel are drawn as one pale run with their neighbours, and
 * appear when their caller is zoomed or the run is clicked.
 */

const ROW = 19, NARROWEST = 0.5, FONT_SIZE = 12;
/* Places without a node: nothing, or a run, which has a number from FIRST_RUN down. */
const NOTHING = -1, FIRST_RUN = -2;
const FONT = `${FONT_SIZE}px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace`;
/* A scaled count of a comparison has no meaning behind the point. */
const numberFormat = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/* Nanoseconds for readers, as src/base/duration.c has them: "1.235 s". */
function duration(ns) {
	const [size, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"]].find(([least]) => ns >= least) || [1, "ns"], n = ns / size;
	return `${n.toFixed(size === 1 || n >= 1000 ? 0 : n >= 100 ? 1 : n >= 10 ? 2 : 3)} ${unit}`;
}

/* A count: a time, if its unit is ns; else a number without its unit, or with it. */
function bare(count, unit) {
	return unit === "ns" ? duration(count) : numberFormat.format(count);
}
function quantity(count, unit) {
	return unit === "ns" ? duration(count) : `${numberFormat.format(count)} ${count === 1 ? unit.replace(/s$/, "") : unit}`;
}

function percent(part, whole) {
	return (whole > 0 ? 100 * part / whole : 0).toFixed(2) + " %";
}

class Panel {
	/*
	 * Calls `told` with the selected node; when the pointer moves, `pointed` with the box under it,
	 * as nodeAt() says, and where it is, or null; and `laidOut` when the boxes have changed.
	 */
	constructor(element, { flame, told, pointed, laidOut }) {
		this.element = element;
		this.flame = flame;
		this.told = told;
		this.pointed = pointed;
		this.laidOut = laidOut;
		this.tree = null;
		this.zoomed = 0;
		this.zoomPath = []; /* keys from the root to the zoomed node */
		this.range = null; /* [first, last]: the boxes that are shown above the zoomed node */
		this.runs = []; /* [first, last] */
		this.selected = 0;
		this.hovered = NOTHING;
		this.matches = null; /* by frame: whether it matches the search */
		this.colours = [];
		this.space = document.createElement("div");
		this.canvas = document.createElement("canvas");
		this.space.className = "space";
		/* A button that shows that there are rows out of sight, and scrolls to them. */
		this.cue = document.createElement("button");
		this.cue.className = "cue";
		this.cue.tabIndex = -1;
		this.cue.hidden = true;
		this.cue.addEventListener("click", () => {
			this.element.scrollTop += (this.flame ? -1 : 1) * (this.height - 2 * ROW);
		});
		this.element.append(this.canvas, this.space, this.cue);
		this.context = this.canvas.getContext("2d");
		this.atRoot = true; /* scrolled to the root, which stays visible */
		this.element.addEventListener("scroll", () => {
			const { scrollTop, scrollHeight, clientHeight } = this.element;
			/* Not of an element that has become lower or higher: resize() has the last word then. */
			if (clientHeight === this.height)
				this.atRoot = this.flame ? scrollTop + clientHeight > scrollHeight - ROW : scrollTop < ROW;
			this.later();
		});
		this.canvas.addEventListener("click", (event) => this.clicked(event));
		this.canvas.addEventListener("mousemove", (event) => this.moved(event));
		this.canvas.addEventListener("mouseleave", () => {
			this.pointer = null;
			this.hover(NOTHING);
		});
		new ResizeObserver(() => this.resize()).observe(this.element);
	}

	/* ---- data and zoom ---- */

	/*
	 * Shows a new tree. If `keep`, zoom and selection follow by name. The zoomed node may be missing
	 * for a while: the path to it is kept, and followed again later.
	 */
	show(tree, colourOf, keep) {
		const zoomed = keep ? this.zoomPath : [], selected = keep ? this.pathOf(this.selected) : [];
		const range = keep && this.range ? this.range.map((node) => this.pathOf(node)) : null;
		this.zoomPath = zoomed;
		/* Frames that stay keep their colours. */
		if (!this.tree || this.tree.frames !== tree.frames || this.colourOf !== colourOf) this.colours = [];
		this.tree = tree;
		this.colourOf = colourOf;
		this.hovered = NOTHING;
		this.zoomed = this.find(zoomed);
		this.range = range && range.map((path) => this.find(path));
		if (range && this.range.some((node, i) => tree.depth[node] !== range[i].length)) this.range = null;
		this.selected = this.find(selected);
		this.layOut();
		if (!keep || this.atRoot) this.scrollToRoot();
		if (this.pointer) this.hover(this.nodeAt(this.pointer));
	}
	pathOf(node) {
		const path = [], { tree } = this;
		for (; tree && node > 0; node = tree.parent[node]) path.unshift(frameKey(tree.frames[tree.frame[node]]));
		return path;
	}
	/* The node at the path, or the last existing one on it. */
	find(path) {
		const { tree } = this;
		let at = 0;
		for (const key of path) {
			let next = -1;
			for (let c = at + 1; c < tree.end[at] && next < 0; c = tree.end[c])
				if (frameKey(tree.frames[tree.frame[c]]) === key) next = c;
			if (next < 0) break;
			at = next;
		}
		return at;
	}
	setColours(colourOf) {
		this.colourOf = colourOf;
		this.colours = [];
		this.later();
	}
	setMatches(matches) {
		this.matches = matches;
		this.later();
	}
	setFlame(flame) {
		this.flame = flame;
		this.layOut();
		this.scrollToRoot();
	}
	zoom(node) {
		this.range = null;
		this.zoomTo(node);
	}
	/* Zooms to a run, from its first box to its last one. */
	zoomRun(what) {
		const { tree } = this, [first, last] = this.runs[FIRST_RUN - what];
		let node = tree.parent[first];
		while (last >= tree.end[node]) node = tree.parent[node];
		this.range = [first, last];
		this.zoomTo(node);
	}
	zoomTo(node) {
		this.zoomed = node;
		this.zoomPath = this.pathOf(node);
		this.layOut();
		this.reveal(node);
	}
	select(node) {
		this.selected = node;
		this.later();
		this.told(node);
	}
	hover(what) {
		if (what !== this.hovered) this.later();
		this.hovered = what;
		this.pointed(what, this.pointer);
	}

	/* ---- layout ---- */

	resize() {
		const width = this.element.clientWidth, height = this.element.clientHeight;
		const ratio = window.devicePixelRatio || 1;
		if (!width || !height) return;
		if (width === this.width && height === this.height && ratio === this.ratio) return;
		Object.assign(this, { width, height, ratio });
		this.canvas.width = Math.round(width * ratio);
		this.canvas.height = Math.round(height * ratio);
		this.canvas.style.width = width + "px";
		this.canvas.style.height = height + "px";
		this.layOut();
		if (this.atRoot) this.scrollToRoot();
		this.paint();
	}
	/* The zoomed part in samples: its start and its width. */
	extent() {
		const { tree } = this, [first, last] = this.range || [this.zoomed, this.zoomed];
		return [tree.x[first], tree.x[last] + tree.width[last] - tree.x[first]];
	}
	/* The boxes of each row in the present zoom, from left to right: node or run, x, width. */
	layOut() {
		const { tree, width } = this;
		if (!tree || !width) return;
		const rows = this.rows = [], z = this.zoomed, [from, span] = this.extent();
		const scale = span > 0 ? width / span : 0, runs = this.runs = [];
		const put = (depth, node, x, w) => {
			(rows[depth] = rows[depth] || []).push(node, x, w);
		};
		for (let node = z; ; node = tree.parent[node]) {
			put(tree.depth[node], node, 0, width);
			if (node === 0) break;
		}
		for (let i = z + 1; i < tree.end[z];) {
			const x = (tree.x[i] - from) * scale, w = tree.width[i] * scale;
			const left = Math.max(x, 0), right = Math.min(x + w, width);
			if (this.range && right - left < NARROWEST / 100) {
				i = tree.end[i];
				continue;
			}
			if (w >= NARROWEST) {
				put(tree.depth[i], i, left, right - left);
				i++;
				continue;
			}
			/* Extends a run that ends here, up to a quarter of the width, so that a click on it zooms. */
			const row = rows[tree.depth[i]], last = row ? row.length - 3 : -1;
			if (last >= 0 && row[last] <= FIRST_RUN && x - row[last + 1] - row[last + 2] < NARROWEST &&
			    right - row[last + 1] <= width / 4) {
				row[last + 2] = right - row[last + 1];
				runs[FIRST_RUN - row[last]][1] = i;
			} else {
				put(tree.depth[i], FIRST_RUN - runs.length, left, right - left);
				runs.push([i, i]);
			}
			i = tree.end[i];
		}
		/* Top rows with only narrow boxes are left out. */
		while (rows.length > tree.depth[z] + 1 && rows[rows.length - 1].every((value, at) =>
			at % 3 !== 0 || (value < 0 && rows[rows.length - 1][at + 2] < NARROWEST))) rows.pop();
		this.space.style.height = rows.length * ROW + 2 + "px";
		this.later();
		this.laidOut();
	}
	/* Whether a run is drawn. */
	hasRuns() {
		return this.rows !== undefined && this.rows.some((row) => row.some((value, at) =>
			at % 3 === 0 && value <= FIRST_RUN && row[at + 2] >= NARROWEST));
	}
	/* The number of boxes in a run, and their samples. */
	runOf(what) {
		const { tree } = this, [first, last] = this.runs[FIRST_RUN - what], depth = tree.depth[first];
		let n = 0, total = 0;
		for (let i = first; i <= last;) {
			const inside = tree.depth[i] >= depth;
			if (inside) {
				n++;
				total += tree.total[i];
			}
			i = inside ? tree.end[i] : i + 1;
		}
		return { n, total };
	}
	top(depth, scrolled = this.element.scrollTop) {
		const row = this.flame ? this.rows.length - 1 - depth : depth;
		/* A graph lower than the panel is drawn at its bottom. */
		const lift = this.flame ? Math.max(0, this.height - this.rows.length * ROW - 2) : 0;
		return row * ROW + lift - scrolled;
	}
	scrollToRoot() {
		this.atRoot = true;
		this.element.scrollTop = this.flame ? this.element.scrollHeight : 0;
	}
	reveal(node) {
		if (!this.tree || !this.width) return;
		const y = this.top(this.tree.depth[node]);
		if (y < 0) this.element.scrollTop += y - ROW;
		else if (y + ROW > this.height) this.element.scrollTop += y + 2 * ROW - this.height;
	}
	nodeAt(event) {
		const box = this.canvas.getBoundingClientRect();
		const x = event.clientX - box.left, y = event.clientY - box.top;
		if (!this.rows) return NOTHING;
		for (let depth = 0; depth < this.rows.length; depth++) {
			const top = this.top(depth), row = this.rows[depth];
			if (y < top || y >= top + ROW || !row) continue;
			let low = 0, high = row.length / 3 - 1;
			while (low < high) {
				const middle = (low + high + 1) >> 1;
				if (row[middle * 3 + 1] <= x) low = middle;
				else high = middle - 1;
			}
			return x < row[low * 3 + 1] + row[low * 3 + 2] ? row[low * 3] : NOTHING;
		}
		return NOTHING;
	}

	/* ---- drawing ---- */

	later() {
		if (this.frameAsked) return;
		this.frameAsked = true;
		requestAnimationFrame(() => {
			this.frameAsked = false;
			this.paint();
		});
	}
	colour(frame, node) {
		if (this.colourOf.perNode) return this.colourOf(this.tree, node);
		return this.colours[frame] || (this.colours[frame] = this.colourOf(this.tree.frames[frame]));
	}
	paint() {
		const { context, tree, width, height } = this;
		if (!tree || !width || !this.rows) return;
		const style = getComputedStyle(document.documentElement);
		const ink = { match: style.getPropertyValue("--match"), run: style.getPropertyValue("--run"),
			edge: style.getPropertyValue("--edge") };
		this.placeCue();
		context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		context.clearRect(0, 0, width, height);
		context.font = FONT;
		context.textBaseline = "middle";
		if (!this.glyph) this.glyph = context.measureText("m".repeat(100)).width / 100 || 7.2;
		const scrolled = this.element.scrollTop;
		for (let depth = 0; depth < this.rows.length; depth++) {
			const y = this.top(depth, scrolled);
			if (y <= -ROW || y >= height || !this.rows[depth]) continue;
			this.paintRow(this.rows[depth], y, depth < tree.depth[this.zoomed], ink);
		}
	}
	/* The box of sleepers tells how many there are. */
	label(node, frame) {
		const { tree } = this;
		return isAsleep(frame) && tree.depth[node] === 1 ? [frame.name, ...cpusText(tree.total[node], tree.head)].join(": ") : frame.name;
	}
	placeCue() {
		const { cue, element, flame, rows, height } = this, below = rows.length * ROW + 2 - element.scrollTop - height;
		const n = Math.round((flame ? element.scrollTop : below) / ROW);
		cue.hidden = n < 1;
		if (n < 1) return;
		const text = `${flame ? "\u25b2" : "\u25bc"} ${numberFormat.format(n)} more row${n > 1 ? "s" : ""}`;
		/* The same text again would be a new layout of the page in each frame. */
		if (cue.textContent !== text) cue.textContent = text;
		cue.style.top = element.scrollTop + (flame ? 4 : height - 30) + "px";
	}
	paintRow(row, y, above, ink) {
		const { context, tree } = this;
		let colour = "";
		for (let at = 0; at < row.length; at += 3) {
			const node = row[at], x = row[at + 1], w = row[at + 2], frame = node < 0 ? 0 : tree.frame[node];
			const match = node >= 0 && this.matches !== null && this.matches[frame] === 1;
			const wanted = node < 0 ? ink.run : match ? ink.match : this.colour(frame, node);
			if (wanted !== colour) context.fillStyle = colour = wanted;
			context.globalAlpha = above ? 0.5 : this.matches !== null && !match && node >= 0 ? 0.55 : 1;
			context.fillRect(x, y, w > 2 ? w - 0.8 : Math.max(w, NARROWEST), ROW - 1);
			if ((node > 0 && node === this.selected) || (node !== 0 && node === this.hovered)) {
				context.globalAlpha = 1;
				context.strokeStyle = ink.edge;
				context.lineWidth = node === this.selected ? 2 : 1;
				context.strokeRect(x + 0.5, y + 0.5, Math.max(w - 1.8, 1), ROW - 2);
			}
			if (node < 0 || w < 3 * this.glyph + 7) continue;
			context.globalAlpha = 1;
			context.fillStyle = match ? "#fff" : above ? ink.edge : "#1b1b1f";
			context.fillText(fit(this.label(node, tree.frames[frame]), Math.floor((w - 7) / this.glyph)), x + 3.5, y + ROW / 2);
			colour = "";
		}
		context.globalAlpha = 1;
	}

	/* ---- input ---- */

	clicked(event) {
		const node = this.nodeAt(event);
		if (node === NOTHING) return;
		if (node <= FIRST_RUN) this.zoomRun(node);
		else this.zoom(node);
		this.select(node < 0 ? this.zoomed : node);
		/* Another box lies under the pointer now. */
		if (this.pointer) this.pointed(this.hovered = this.nodeAt(event), this.pointer);
	}
	moved(event) {
		this.pointer = { clientX: event.clientX, clientY: event.clientY };
		this.hover(this.nodeAt(event));
		this.canvas.style.cursor = this.hovered !== NOTHING ? "pointer" : "default";
	}
	/* Moves the selection to a drawn box above, below, left or right. */
	move(direction) {
		const { tree, rows } = this, depth = tree.depth[this.selected];
		let to = -1;
		if (direction === "in") {
			for (let c = this.selected + 1; c < tree.end[this.selected]; c = tree.end[c])
				if (to < 0 || tree.width[c] > tree.width[to]) to = c;
		} else if (direction === "out") {
			to = this.selected > 0 ? tree.parent[this.selected] : -1;
		} else {
			const row = (rows[depth] || []).filter((value, at) => at % 3 === 0 && value >= 0);
			to = row[row.indexOf(this.selected) + (direction === "left" ? -1 : 1)];
		}
		if (to === undefined || to < 0) return;
		if (to !== 0 && (to < this.zoomed || to >= tree.end[this.zoomed])) this.zoom(to);
		if (to === 0) this.zoom(0);
		this.select(to);
		this.reveal(to);
	}
}

function frameKey(frame) {
	return `${frame.name}\n${frame.module}\n${frame.kind}`;
}
