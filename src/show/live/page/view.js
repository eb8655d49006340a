"use strict";
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live page's scripts follow those of report/page, in this order: view.js, model.js,
 * live.js.
 *
 * A view is a growing tree as the filters show it. It does what filterTree() does, but for each node
 * once, when it arrives: an update costs what is new in it, and counts only have to be added up.
 */

const DROPPED = -1;

class Grower {
	/* A typed array that grows. */
	constructor(type) {
		this.values = new type(1024);
		this.n = 0;
	}
	push(value) {
		if (this.n === this.values.length) this.resize(this.n * 2);
		this.values[this.n++] = value;
	}
	resize(n) {
		const grown = new this.values.constructor(n);
		grown.set(this.values.subarray(0, Math.min(n, this.values.length)));
		this.values = grown;
	}
}

/* A table of frames that only grows, and their order. */
class Frames {
	constructor() {
		this.list = [{ name: "all", module: "", kind: KIND.ROOT, kernel: false, tgid: 0, tid: 0, interest: 0 }];
		this.sorted = [];
		this.rank = new Uint32Array(0);
		this.labels = new Map();
		this.functions = null;
	}
	add(frame) {
		return this.list.push(frame) - 1;
	}
	/* The frame under whose name several processes or threads are shown as one. */
	label(frame, name) {
		let number = this.labels.get(name);
		if (number === undefined) this.labels.set(name, number = this.add({ ...frame, name }));
		return number;
	}
	compare(a, b) {
		const one = this.list[a], other = this.list[b];
		if (one.name !== other.name) return one.name < other.name ? -1 : 1;
		return one.module < other.module ? -1 : one.module > other.module ? 1 : a - b;
	}
	/* The rank of each frame among siblings. Merges the few new frames into the sorted ones. */
	ranks() {
		const known = this.sorted.length, { list } = this;
		if (known === list.length) return this.rank;
		const fresh = Array.from({ length: list.length - known }, (nothing, i) => known + i)
			.sort((a, b) => this.compare(a, b));
		const merged = new Array(list.length);
		for (let i = 0, a = 0, b = 0; i < merged.length; i++)
			merged[i] = b === fresh.length || (a < known && this.compare(this.sorted[a], fresh[b]) < 0)
				? this.sorted[a++] : fresh[b++];
		this.sorted = merged;
		this.rank = new Uint32Array(merged.length);
		for (let i = 0; i < merged.length; i++) this.rank[merged[i]] = i;
		return this.rank;
	}
	/* What functionsOf() returns, for all trees of these frames. */
	functionTable() {
		if (!this.functions) this.functions = { of: new Uint32Array(0), list: [null], numbers: new Map([["", 0]]) };
		const { list, numbers } = this.functions, known = this.functions.of.length;
		if (known === this.list.length) return this.functions;
		const of = new Uint32Array(this.list.length);
		of.set(this.functions.of);
		for (let i = known; i < of.length; i++) {
			const key = functionKey(this.list[i]);
			let number = numbers.get(key);
			if (number === undefined) {
				numbers.set(key, number = list.length);
				list.push(this.list[i]);
			}
			of[i] = number;
		}
		return this.functions = { of, list, numbers };
	}
}

class View {
	/* `nodes`: {parent, frame}, two Growers; a parent comes before its children. */
	constructor(nodes, frames, filter) {
		this.nodes = nodes;
		this.frames = frames;
		this.filter = { ...filter };
		this.of = new Grower(Int32Array); /* of each node: its node in the view, or DROPPED */
		this.top = new Grower(Int32Array); /* of each node: the view's node of its process or thread, or DROPPED */
		this.mergedInto = new Grower(Uint8Array); /* of each node: 1 when it is not shown, and its samples count for its parent */
		this.parent = new Grower(Uint32Array);
		this.frame = new Grower(Uint32Array);
		this.children = new Map();
		this.ordered = -1;
		this.parent.push(0);
		this.frame.push(0);
		this.map(filter.side === "kernel" ? DROPPED : 0, 0, 0);
	}
	fits(filter) {
		return ["comm", "tgid", "tid", "side", "split"].every((key) => this.filter[key] === filter[key]);
	}
	map(of, top, merged) {
		this.of.push(of);
		this.top.push(top);
		this.mergedInto.push(merged);
	}
	child(parent, frame) {
		const key = parent * 0x8000000 + frame;
		let node = this.children.get(key);
		if (node === undefined) {
			this.children.set(key, node = this.parent.n);
			this.parent.push(parent);
			this.frame.push(frame);
		}
		return node;
	}
	isWho(node) {
		return this.frames.list[this.nodes.frame.values[node]].kind === KIND.WHO;
	}
	/* A cgroup is dropped: the nodes of the processes below it have its name as well. */
	mapWho(node) {
		const { nodes, filter } = this, above = nodes.parent.values[node];
		const frame = this.frames.list[nodes.frame.values[node]];
		const next = node + 1;
		/* As it was received, for files. */
		if (filter.split === "raw") {
			const at = this.child(this.of.values[above], nodes.frame.values[node]);
			this.map(at, at, 0);
		} else if (next < nodes.parent.n && nodes.parent.values[next] === node && this.isWho(next)) {
			this.map(DROPPED, DROPPED, 0);
		} else if (!isWanted(frame, filter)) {
			this.map(DROPPED, DROPPED, 0);
		} else {
			const group = above > 0 ? this.frames.list[nodes.frame.values[above]] : null;
			const top = filter.split === "none" ? 0
				: this.child(0, this.frames.label(frame, whoLabel(frame, group, filter.split)));
			this.map(filter.side === "kernel" ? DROPPED : top, top, 0);
		}
	}
	mapFrame(node, number) {
		const { side } = this.filter, above = this.nodes.parent.values[node];
		const of = this.of.values[above], top = this.top.values[above];
		const { kernel } = this.frames.list[number];
		if (top === DROPPED) this.map(DROPPED, DROPPED, 0);
		else if (side === "user" && (kernel || this.mergedInto.values[above])) this.map(of, top, 1);
		else if (of !== DROPPED) this.map(this.child(of, number), top, 0);
		else if (kernel) this.map(this.child(top, number), top, 0);
		else this.map(DROPPED, top, 0);
	}
	/* Adds the nodes that are new. */
	grow() {
		for (let node = this.of.n; node < this.nodes.parent.n; node++) {
			if (this.isWho(node)) this.mapWho(node);
			else this.mapFrame(node, this.nodes.frame.values[node]);
		}
	}
	/* Links each node's children in their order. */
	order() {
		const n = this.parent.n, rank = this.frames.ranks();
		if (this.ordered === n && this.ranked === rank) return;
		const frame = this.frame.values, parent = this.parent.values;
		const starts = new Uint32Array(rank.length + 1), sorted = new Uint32Array(n);
		for (let i = 1; i < n; i++) starts[rank[frame[i]] + 1]++;
		for (let i = 0; i < rank.length; i++) starts[i + 1] += starts[i];
		for (let i = 1; i < n; i++) sorted[starts[rank[frame[i]]]++] = i;
		this.first = new Uint32Array(n);
		this.next = new Uint32Array(n);
		for (let i = n - 2; i >= 0; i--) {
			this.next[sorted[i]] = this.first[parent[sorted[i]]];
			this.first[parent[sorted[i]]] = sorted[i];
		}
		this.ordered = n;
		this.ranked = rank;
	}
	/* Self and total of each node of the view. */
	count(counts) {
		const self = new Float64Array(this.parent.n), of = this.of.values;
		for (let i = 0, n = Math.min(counts.length, this.of.n); i < n; i++)
			if (counts[i] !== 0 && of[i] >= 0) self[of[i]] += counts[i];
		const total = self.slice();
		addUp(total, this.parent.values);
		return { self, total };
	}
	/*
	 * A tree as decodeBlock() makes it, of the nodes that have counts, now or in what is compared
	 * with, and of those in `keep` with their ancestors.
	 */
	tree(head, counts, baseCounts, keep) {
		this.grow();
		this.order();
		const now = this.count(counts), then = baseCounts ? this.count(baseCounts) : null;
		const seen = new Uint8Array(this.parent.n), parents = this.parent.values;
		let n = 0;
		for (let node of keep) for (seen[0] = 1; node > 0; node = parents[node]) seen[node] = 1;
		for (let i = 0; i < seen.length; i++) {
			if (now.total[i] > 0 || (then && then.total[i] > 0)) seen[i] = 1;
			n += seen[i];
		}
		seen[0] = 1;
		const tree = this.lay(head, Math.max(n, 1), now, then, seen);
		tree.view = this;
		tree.scaleTotal = tree.total[0];
		tree.scaleBase = then ? tree.base[0] : 0;
		tree.functions = this.frames.functionTable();
		layOut(tree);
		return tree;
	}
	lay(head, n, now, then, seen) {
		const tree = { head, frames: this.frames.list, n, deepest: 0, base: null, baseSelf: null };
		for (const key of ["depth", "parent", "frame", "end", "node"]) tree[key] = new Uint32Array(n);
		for (const key of ["total", "self", ...then ? ["base", "baseSelf"] : []]) tree[key] = new Float64Array(n);
		const { first, next } = this, parents = this.parent.values;
		let at = 0, depth = 0, above = 0;
		for (let node = 0; ;) {
			if (seen[node]) {
				tree.depth[at] = depth;
				tree.parent[at] = above;
				tree.frame[at] = this.frame.values[node];
				tree.node[at] = node;
				tree.total[at] = now.total[node];
				tree.self[at] = now.self[node];
				if (then) {
					tree.base[at] = then.total[node];
					tree.baseSelf[at] = then.self[node];
				}
				if (depth > tree.deepest) tree.deepest = depth;
				above = at++;
				if (first[node]) {
					node = first[node];
					depth++;
					continue;
				}
				tree.end[above] = at;
				above = tree.parent[above];
			}
			while (node > 0 && next[node] === 0) {
				node = parents[node];
				depth--;
				tree.end[above] = at;
				above = tree.parent[above];
			}
			if (node === 0) break;
			node = next[node];
		}
		return tree;
	}
}
