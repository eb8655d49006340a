/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Derives trees: filtered ones, the callers of a function, its callees. */

class TreeBuilder {
	/* `source` is the tree it is derived from; `most` bounds the nodes. */
	constructor(source, frames, most) {
		this.source = source;
		this.frames = frames;
		this.n = 0;
		this.depth = new Uint32Array(most);
		this.parent = new Uint32Array(most);
		this.frame = new Uint32Array(most);
		this.total = new Float64Array(most);
		this.self = new Float64Array(most);
		this.base = source.base ? new Float64Array(most) : null;
		this.baseSelf = source.base ? new Float64Array(most) : null;
	}
	grow() {
		for (const key of ["depth", "parent", "frame", "total", "self", "base", "baseSelf"]) {
			if (!this[key]) continue;
			const grown = new this[key].constructor(this[key].length * 2 + 64);
			grown.set(this[key]);
			this[key] = grown;
		}
	}
	add(parent, depth, frame) {
		if (this.n === this.depth.length) this.grow();
		this.parent[this.n] = parent;
		this.depth[this.n] = depth;
		this.frame[this.n] = frame;
		return this.n++;
	}
	/* Adds the counts of a node of the source to one of this tree. */
	count(at, node) {
		const source = this.source;
		this.total[at] += source.total[node];
		this.self[at] += source.self[node];
		if (!this.base) return;
		this.base[at] += source.base[node];
		this.baseSelf[at] += source.baseSelf[node];
	}
	/* Adds the samples of a part that is left out to the own samples of a node. */
	keep(at, node) {
		this.self[at] += this.source.total[node];
		if (this.base) this.baseSelf[at] += this.source.base[node];
	}
	finish() {
		const n = this.n, tree = { head: this.source.head, frames: this.frames, n, deepest: 0 };
		for (const key of ["depth", "parent", "frame", "total", "self", "base", "baseSelf"])
			tree[key] = this[key] ? this[key].subarray(0, n) : null;
		tree.end = new Uint32Array(n);
		for (let i = n - 1; i >= 0; i--) {
			if (tree.end[i] === 0) tree.end[i] = i + 1;
			if (i > 0 && tree.end[tree.parent[i]] < tree.end[i]) tree.end[tree.parent[i]] = tree.end[i];
			if (tree.depth[i] > tree.deepest) tree.deepest = tree.depth[i];
		}
		/* Shares are of the whole measurement, also in a part of it. */
		tree.scaleTotal = this.source.scaleTotal || this.source.total[0];
		tree.scaleBase = this.source.base ? this.source.scaleBase || this.source.base[0] : 0;
		layOut(tree);
		return tree;
	}
}

/* The samples that equal one sample of the base. */
function baseScale(tree) {
	if (!tree.head.shares) return tree.head.baseScale || 1;
	return tree.scaleTotal && tree.scaleBase ? tree.scaleTotal / tree.scaleBase : 1;
}

/* x and width of each node, in samples; in a comparison the larger of both sides counts. */
function layOut(tree) {
	const { n, parent, total, base } = tree;
	tree.width = total;
	if (base) {
		const scale = baseScale(tree), width = new Float64Array(n);
		const rest = total.slice(), baseRest = base.slice();
		for (let i = n - 1; i > 0; i--) {
			rest[parent[i]] -= total[i];
			baseRest[parent[i]] -= base[i];
		}
		for (let i = 0; i < n; i++)
			width[i] = Math.max(rest[i], baseRest[i] * scale, 0);
		addUp(width, parent);
		tree.width = width;
	}
	const next = new Float64Array(tree.deepest + 2), x = new Float64Array(n);
	for (let i = 0; i < n; i++) {
		const depth = tree.depth[i];
		x[i] = next[depth];
		next[depth] += tree.width[i];
		next[depth + 1] = x[i];
	}
	tree.x = x;
}

/* Group by frame: a Map from frame to the nodes that have it, in the order of frames. */
function byFrame(nodes, frameOf) {
	const groups = new Map();
	for (const node of nodes) {
		const frame = frameOf(node), group = groups.get(frame);
		if (group) group.push(node);
		else groups.set(frame, [node]);
	}
	return [...groups].sort((a, b) => a[0] - b[0]);
}

/* Copies the subtree below a node, with or without kernel frames. */
function copyBelow(builder, node, at, noKernel) {
	const { source } = builder, path = [at], top = source.depth[node];
	for (let i = node + 1; i < source.end[node];) {
		const depth = source.depth[i] - top, parent = path[depth - 1];
		if (noKernel && source.frames[source.frame[i]].kernel) {
			builder.keep(parent, i);
			i = source.end[i];
			continue;
		}
		path[depth] = builder.add(parent, builder.depth[parent] + 1, source.frame[i]);
		builder.count(path[depth], i);
		i++;
	}
}

/* Merges the subtrees below several nodes of the source into the node `top` of the new tree. */
function mergeBelow(builder, nodes, top, noKernel) {
	const { source } = builder, open = [[nodes, top]];
	const childrenOf = (list, at) => {
		const children = [];
		for (const node of list) {
			for (let c = node + 1; c < source.end[node]; c = source.end[c]) {
				if (noKernel && source.frames[source.frame[c]].kernel) builder.keep(at, c);
				else children.push(c);
			}
		}
		return children;
	};
	/* Preorder: the children of a node are pushed last first, and added when they are popped. */
	while (open.length) {
		const [list, place, frame] = open.pop();
		let at = place;
		if (frame !== undefined) {
			at = builder.add(place, builder.depth[place] + 1, frame);
			for (const node of list) builder.count(at, node);
		}
		if (list.length === 1) {
			copyBelow(builder, list[0], at, noKernel);
			continue;
		}
		const groups = byFrame(childrenOf(list, at), (node) => source.frame[node]);
		for (let i = groups.length - 1; i >= 0; i--) open.push([groups[i][1], at, groups[i][0]]);
	}
}

/* The nodes of processes or threads; all topmost nodes if there are none. */
function tops(tree) {
	const found = [];
	for (let i = 1; i < tree.n;) {
		const frame = tree.frames[tree.frame[i]];
		const next = i + 1 < tree.end[i] ? tree.frames[tree.frame[i + 1]] : null;
		if (frame.kind === KIND.WHO && next && next.kind === KIND.WHO) {
			i++; /* a cgroup */
			continue;
		}
		if (frame.kind === KIND.WHO) found.push(i);
		i = tree.end[i];
	}
	return found;
}

/*
 * The label of a cgroup: its service or container, which is its module, or its pod, of the names
 * behind its path, "(NAMESPACE/POD/CONTAINER)" or, of Podman, "(POD/CONTAINER)".
 */
function groupLabel(group, split) {
	if (split === "service") return group.module || group.name;
	const pod = / \(((?:[^()/]+\/)?[^()/]+)\/[^()/]+\)$/.exec(group.name);
	return pod ? pod[1] : "no pod";
}

/* Whether nodes are split by what their cgroups are. */
function splitsGroups(split) {
	return split === "service" || split === "pod";
}

/* The label of the frame of a process or thread; `group` is the frame of its cgroup, or null. */
function whoLabel(frame, group, split) {
	const name = group ? `${group.name}: ${frame.name}` : frame.name;
	if (splitsGroups(split) && group) return groupLabel(group, split);
	if (split === "thread" && frame.tid) return `${name} ${frame.tgid}/${frame.tid}`;
	if (split !== "comm" && frame.tgid) return `${name} ${frame.tgid}`;
	return name;
}

/* Whether the filter lets this process or thread through. */
function isWanted(frame, { comm, tgid, tid }) {
	return (comm === null || frame.name === comm) && (tgid === null || frame.tgid === tgid) &&
		(tid === null || frame.tid === tid);
}

/* The frame above a node, or null if that is the root. */
function frameAbove(tree, node) {
	const above = tree.parent[node];
	return above > 0 ? tree.frames[tree.frame[above]] : null;
}

/* The topmost kernel nodes below these. */
function kernelTops(tree, nodes) {
	const found = [];
	for (const node of nodes) {
		for (let i = node + 1; i < tree.end[node];) {
			const kernel = tree.frames[tree.frame[i]].kernel;
			if (kernel) found.push(i);
			i = kernel ? tree.end[i] : i + 1;
		}
	}
	return found;
}

/*
 * The tree of the samples that pass the filter: comm, tgid and tid (null: any), side ("all", "user",
 * "kernel"), split ("comm", "process", "thread", "service", "pod", "none").
 */
function filterTree(source, filter) {
	const frames = source.frames.slice(), builder = new TreeBuilder(source, frames, source.n + 64);
	const root = builder.add(0, 0, 0), all = tops(source);
	const wanted = all.filter((node) => isWanted(source.frames[source.frame[node]], filter));
	const noKernel = filter.side === "user";
	const groups = new Map();
	if (!all.length || filter.split === "none") {
		groups.set("", all.length ? wanted : [0]);
	} else {
		for (const node of wanted) {
			const label = whoLabel(source.frames[source.frame[node]], frameAbove(source, node), filter.split);
			if (groups.has(label)) groups.get(label).push(node);
			else groups.set(label, [node]);
		}
	}
	for (const label of [...groups.keys()].sort((a, b) => a < b ? -1 : a > b ? 1 : 0)) {
		const nodes = groups.get(label);
		let at = root;
		if (label !== "") {
			frames.push({ ...source.frames[source.frame[nodes[0]]], name: label });
			at = builder.add(root, 1, frames.length - 1);
		}
		if (filter.side === "kernel") {
			mergeKernel(builder, kernelTops(source, nodes), at);
		} else {
			for (const node of nodes) builder.count(at, node);
			mergeBelow(builder, nodes, at, noKernel);
		}
		if (at !== root) {
			builder.total[root] += builder.total[at];
			if (builder.base) builder.base[root] += builder.base[at];
		}
	}
	return builder.finish();
}

function mergeKernel(builder, found, at) {
	const { source } = builder;
	for (const [frame, list] of byFrame(found, (node) => source.frame[node])) {
		const top = builder.add(at, builder.depth[at] + 1, frame);
		for (const node of list) {
			builder.count(top, node);
			builder.total[at] += source.total[node];
			if (builder.base) builder.base[at] += source.base[node];
		}
		mergeBelow(builder, list, top, false);
	}
}

/* ---- functions ---- */

/* Frames with equal keys are one function. */
function functionKey(frame) {
	return frame.kind <= KIND.WHO ? "" : frame.name + "\n" + frame.module;
}

/* The number of the function of each frame; 0: none. Cached in the tree. */
function functionsOf(tree) {
	if (tree.functions) return tree.functions;
	const numbers = new Map([["", 0]]), list = [null];
	const of = Uint32Array.from(tree.frames, (frame) => {
		const key = functionKey(frame);
		let number = numbers.get(key);
		if (number === undefined) {
			numbers.set(key, number = list.length);
			list.push(frame);
		}
		return number;
	});
	return tree.functions = { of, list, numbers };
}

/* Calls `found` for the topmost nodes of the function. */
function eachOutermost(tree, number, found) {
	const { of } = functionsOf(tree);
	for (let i = 1; i < tree.n;) {
		const is = of[tree.frame[i]] === number;
		if (is) found(i);
		i = is ? tree.end[i] : i + 1;
	}
}

/* The callees of the function: its stacks from it on, merged. */
function calleesOf(tree, number) {
	const nodes = [];
	eachOutermost(tree, number, (node) => nodes.push(node));
	const builder = new TreeBuilder(tree, tree.frames, 1024);
	const root = builder.add(0, 0, nodes.length ? tree.frame[nodes[0]] : 0);
	for (const node of nodes) builder.count(root, node);
	if (nodes.length) mergeBelow(builder, nodes, root, false);
	return builder.finish();
}

/* Its callers: the same stacks towards the root. Parts below 1/2000 are left out. */
function callersOf(tree, number) {
	const starts = [];
	eachOutermost(tree, number, (node) => starts.push([node, node]));
	const builder = new TreeBuilder(tree, tree.frames, 1024);
	const weight = (list) => list.reduce((sum, [, from]) =>
		sum + tree.total[from] + (tree.base ? tree.base[from] : 0), 0);
	const least = weight(starts) / 2000, open = [];
	if (starts.length) open.push([starts, 0, tree.frame[starts[0][0]], 0]);
	else builder.add(0, 0, 0);
	while (open.length) {
		const [list, parent, frame, depth] = open.pop();
		const at = builder.add(parent, depth, frame), more = [];
		for (const [node, from] of list) {
			builder.total[at] += tree.total[from];
			if (builder.base) builder.base[at] += tree.base[from];
			if (node > 0 && tree.parent[node] > 0) more.push([tree.parent[node], from]);
		}
		const groups = byFrame(more, ([node]) => tree.frame[node]);
		for (let i = groups.length - 1; i >= 0; i--)
			if (weight(groups[i][1]) >= least) open.push([groups[i][1], at, groups[i][0], depth + 1]);
	}
	/* A box does not have its waits on top. */
	return Object.assign(builder.finish(), { inverted: true });
}

/*
 * Self and total of each function: [{number, frame, self, total, base...}]. A wait is given to the
 * function of the program that waits; what ended it is no part of it.
 */
function countFunctions(tree) {
	const { of, list } = functionsOf(tree), n = list.length;
	const self = new Float64Array(n), total = new Float64Array(n);
	const baseSelf = new Float64Array(n), base = new Float64Array(n);
	const active = new Uint32Array(n), path = new Uint32Array(tree.deepest + 2), nodes = new Uint32Array(tree.deepest + 2);
	let depth = 0;
	for (let i = 1; i < tree.n; i++) {
		for (; depth >= tree.depth[i]; depth--) active[path[depth]]--;
		depth = tree.depth[i];
		const number = path[depth] = of[tree.frame[i]];
		nodes[depth] = i;
		if (isWait(tree.frames[tree.frame[i]])) {
			const waits = programNode(tree, nodes, depth - 1), is = of[tree.frame[waits]];
			active[number]++;
			if (waits > 0) self[is] += tree.total[i];
			if (waits > 0 && tree.base) baseSelf[is] += tree.base[i];
			i = tree.end[i] - 1;
			continue;
		}
		self[number] += tree.self[i];
		if (tree.base) baseSelf[number] += tree.baseSelf[i];
		if (active[number]++ > 0) continue;
		total[number] += tree.total[i];
		if (tree.base) base[number] += tree.base[i];
	}
	const found = [];
	for (let i = 1; i < n; i++)
		if (total[i] > 0 || base[i] > 0)
			found.push({ number: i, frame: list[i], self: self[i], total: total[i],
				baseSelf: baseSelf[i], base: base[i] });
	return found;
}
