/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data received from the server (docs/live.md): nodes and frames by number, and the counts of
 * each second.
 */

class Model {
	constructor(state) {
		this.head = state.head;
		this.formats = state.formats; /* [name, extension, description] */
		this.measurement = state.measurement;
		this.startTime = state.measurement.start_time;
		this.binMs = state.bin_ms; /* 0: a recording, without times */
		this.frames = new Frames();
		this.numbers = []; /* of each of the server's frames: its number in `frames` */
		this.nodes = { parent: new Grower(Uint32Array), frame: new Grower(Uint32Array) };
		this.totals = new Grower(Float64Array);
		this.seconds = []; /* {tick, at, ms, samples, lost, counts: [node, count, ...] or null} */
		this.samples = state.measurement.samples;
		this.lost = state.measurement.losses.lost;
		this.bins = new Grower(Uint32Array); /* events in each bin of binMs */
		this.takeLimits(state);
		this.whoOf = new Uint32Array(0); /* of each node: that of its process or thread, or 0 */
		this.view = null;
		this.sums = null; /* of a range of seconds, which the next range changes at its ends */
		this.takeFrames(state.frames);
		this.takeNodes(state.nodes);
		for (const [tick, at, ms, samples, lost, counts] of state.seconds)
			this.seconds.push({ tick, at, ms, samples, lost, counts });
		for (let i = 0; i < state.totals.length; i += 2) this.totals.values[state.totals[i]] = state.totals[i + 1];
		this.tick = state.tick;
		this.takeBins(state.bins);
	}
	/* Adds a tick. False when one is missing: then the client has to connect again. */
	take(update) {
		if (update.tick !== this.tick + 1) return false;
		this.tick = update.tick;
		this.takeFrames(update.frames);
		this.takeNodes(update.nodes);
		const { tick, at, ms, samples, lost, counts } = update;
		this.seconds.push({ tick, at, ms, samples, lost, counts });
		if (this.seconds.length > MOST_SECONDS) this.seconds.shift();
		for (let i = 0; i < counts.length; i += 2) this.totals.values[counts[i]] += counts[i + 1];
		this.samples += samples;
		this.lost += lost;
		this.takeBins(update.bins);
		this.takeLimits(update);
		return true;
	}
	/* Stacks that are cut, and since when new processes of a name are one box (ms; 0: they are not). */
	takeLimits({ shortened, shared_from: sharedFrom }) {
		Object.assign(this, { shortened, sharedFrom });
	}
	takeFrames(frames) {
		for (const [name, module, kind, kernel, tgid, tid, interest] of frames)
			this.numbers.push(this.frames.add({ name, module, kind, kernel: kernel !== 0, tgid, tid, interest }));
	}
	takeNodes(nodes) {
		for (let i = 0; i < nodes.length; i += 2) {
			this.nodes.parent.push(nodes[i]);
			this.nodes.frame.push(this.nodes.frame.n ? this.numbers[nodes[i + 1]] : 0);
			this.totals.push(0);
		}
	}
	takeBins([first, ...bins]) {
		const { values } = this.bins;
		while (this.bins.n < first) this.bins.push(0);
		if (values.length < first + bins.length) this.bins.resize((first + bins.length) * 2);
		this.bins.values.set(bins, first);
		this.bins.n = Math.max(this.bins.n, first + bins.length);
	}

	/* ---- seconds ---- */

	get oldest() {
		return this.tick + 1 - this.seconds.length;
	}
	second(tick) {
		return this.seconds[tick - this.oldest];
	}
	/* The beginning and the end of a range, in ms since the start. */
	span(from, to) {
		const first = this.second(from), last = this.second(to);
		return first && last ? [first.at - first.ms, last.at] : [0, this.now];
	}
	get now() {
		return this.seconds.length ? this.seconds[this.seconds.length - 1].at : 0;
	}
	/* The seconds within a time in ms, at least one: [from, to], by number. */
	ticksIn(start, end) {
		return ticksIn(this.seconds, this.oldest, start, end);
	}
	hasCounts(from, to) {
		for (let tick = from; tick <= to; tick++) if (!this.second(tick)?.counts) return false;
		return true;
	}

	/* ---- counts ---- */

	add(sums, tick, sign) {
		const { counts } = this.second(tick);
		for (let i = 0; i < counts.length; i += 2) sums[counts[i]] += sign * counts[i + 1];
	}
	/* A copy of the counts of these seconds by node. hasCounts() must be true. */
	countsOf(from, to) {
		const n = this.nodes.parent.n;
		let { sums } = this;
		if (!sums || sums.from > from || sums.to > to || sums.to < from || sums.from < this.oldest)
			sums = { from, to: from - 1, counts: new Float64Array(n) };
		if (sums.counts.length < n) {
			const grown = new Float64Array(n + (n >> 2));
			grown.set(sums.counts);
			sums.counts = grown;
		}
		for (; sums.from < from; sums.from++) this.add(sums.counts, sums.from, -1);
		for (; sums.to < to; sums.to++) this.add(sums.counts, sums.to + 1, 1);
		this.sums = sums;
		return sums.counts.slice(0, n);
	}
	allCounts() {
		return this.totals.values.slice(0, this.nodes.parent.n);
	}
	/* Counts by node, from [node, count, ...]. */
	spread(pairs) {
		const counts = new Float64Array(this.nodes.parent.n);
		for (let i = 0; i < pairs.length; i += 2) counts[pairs[i]] = pairs[i + 1];
		return counts;
	}

	/* ---- for the timeline ---- */

	get tellsWho() {
		return this.frames.list.some((frame) => frame.kind === KIND.WHO);
	}
	partsOf(second, filter) {
		const parent = this.nodes.parent.values, { n } = this.nodes.parent;
		const frameOf = (node) => node > 0 ? this.frames.list[this.nodes.frame.values[node]] : null;
		if (this.whoOf.length < n) this.whoOf = whoNodes(parent, n, (node) => frameOf(node).kind === KIND.WHO, this.whoOf);
		return partsOfSecond(second, filter, (node) => node, this.whoOf, parent, frameOf);
	}

	/* ---- for the page ---- */

	filtered(filter, counts, baseCounts, head, zoomed) {
		const again = this.view !== null && this.view.fits(filter);
		if (!again) this.view = new View(this.nodes, this.frames, filter);
		return this.view.tree(head, counts, baseCounts, again ? zoomed : []);
	}
	/* The tree as it was received, of what has counts. */
	whole(head, counts, baseCounts) {
		const all = { comm: null, tgid: null, tid: null, side: "all", split: "raw" };
		return new View(this.nodes, this.frames, all).tree(head, counts, baseCounts, []);
	}
	/* [frame, samples] of each process or thread. */
	who(counts) {
		const total = counts.slice(), parent = this.nodes.parent.values, frame = this.nodes.frame.values;
		const found = new Map(), isWho = (node) => this.frames.list[frame[node]].kind === KIND.WHO;
		addUp(total, parent);
		for (let i = 1; i < total.length; i++) {
			if (!isWho(i)) continue;
			if (total[i] > 0) found.set(i, total[i]);
			found.delete(parent[i]);
		}
		return [...found].map(([node, samples]) => [this.frames.list[frame[node]], samples]);
	}
}

const MOST_SECONDS = 1800; /* the server keeps no more */
