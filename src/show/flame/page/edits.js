/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the reader leaves out of the graph, as the options --focus, --ignore, --hide and
 * --collapse-recursion do, but by function and by file. A tree without it is derived from another one.
 */

const noEdits = () => ({ focus: "", ignore: [], hide: [], files: [], collapse: false });
const EDIT_HIDE = 1, EDIT_IGNORE = 2, EDIT_FOCUS = 4, LEFT_OUT = -1;
const INTERPRETERS = /^\[?(lib)?(python|perl|ruby|php|node|v8|jvm|java)/;

function hasEdits({ focus, ignore, hide, files, collapse }) {
	return focus !== "" || ignore.length + hide.length + files.length > 0 || collapse;
}

/* What the edits say about each frame. */
function editMarks(frames, { focus, ignore, hide, files }) {
	const ignored = new Set(ignore), hidden = new Set(hide), inFiles = new Set(files);
	return Uint8Array.from(frames, (frame) => {
		const key = functionKey(frame);
		if (key === "") return 0;
		return (hidden.has(key) || inFiles.has(frame.module) ? EDIT_HIDE : 0) |
			(ignored.has(key) ? EDIT_IGNORE : 0) | (key === focus ? EDIT_FOCUS : 0);
	});
}

function isScript(frame) {
	return frame.kind > KIND.WAITING + 1;
}

/* The nodes of an interpreter: those that lead to functions of its program, and those of its file that these call. */
function interpreterNodes({ n, parent, frame, frames }) {
	const nodes = new Uint8Array(n), leads = new Uint8Array(n), called = new Uint8Array(n);
	for (let i = n - 1; i > 0; i--)
		if (leads[i] || isScript(frames[frame[i]])) leads[parent[i]] = 1;
	for (let i = 1; i < n; i++) {
		const it = frames[frame[i]], script = isScript(it);
		called[i] = script || called[parent[i]];
		nodes[i] = !script && it.kind !== KIND.WHO && (leads[i] || (called[i] && INTERPRETERS.test(it.module)));
	}
	return nodes;
}

/* The part of each node's samples that no child has. */
function restsOf(counts, parent) {
	const rests = counts.slice();
	for (let i = counts.length - 1; i > 0; i--) rests[parent[i]] -= counts[i];
	return rests;
}

/* Nodes in the order of their making: parents first. */
class EditedNodes {
	constructor(source) {
		this.source = source;
		this.parent = [0];
		this.frame = [0];
		this.children = [[]];
		this.places = new Map();
	}
	child(above, frame) {
		const key = above * 0x8000000 + frame;
		let at = this.places.get(key);
		if (at === undefined) {
			this.places.set(key, at = this.parent.length);
			this.parent.push(above);
			this.frame.push(frame);
			this.children.push([]);
			this.children[above].push(at);
		}
		return at;
	}
	/* A tree of the nodes that have samples. */
	tree(counts) {
		const { source, frame, children } = this, builder = new TreeBuilder(source, source.frames, frame.length);
		const rank = source.view ? source.view.frames.ranks() : null, open = [[0, 0, 0]];
		const order = (a, b) => rank ? rank[frame[a]] - rank[frame[b]] : frame[a] - frame[b];
		for (const key of ["total", "base"]) if (counts[key]) addUp(counts[key], this.parent);
		while (open.length) {
			const [node, parent, depth] = open.pop(), at = builder.add(parent, depth, frame[node]);
			for (const key of ["total", "self", "base", "baseSelf"]) if (counts[key]) builder[key][at] = counts[key][node];
			for (const child of children[node].sort(order).reverse())
				if (counts.total[child] > 0 || (counts.base && counts.base[child] > 0)) open.push([child, at, depth + 1]);
		}
		const tree = builder.finish();
		tree.functions = functionsOf(source);
		return tree;
	}
}

/* Moves the time of threads that have slept since before the measurement to a box of its own, or `leave`s it out. */
function placeSleepers(nodes, places, leave) {
	const { n, frame, frames } = nodes.source;
	for (let i = 1; i < n; i++)
		if (places[i] !== LEFT_OUT && isAsleep(frames[frame[i]])) places[i] = leave ? LEFT_OUT : nodes.child(0, frame[i]);
}

/* Where each node of the source is in the new one; LEFT_OUT: nowhere, with its samples. */
function placeNodes(nodes, edits, program, sleepers) {
	const { source } = nodes, { n, parent, frame, frames } = source;
	const marks = editMarks(frames, edits), hidden = program ? interpreterNodes(source) : null;
	const { of } = functionsOf(source), places = new Int32Array(n), focused = new Uint8Array(n);
	focused[0] = edits.focus === "" ? 1 : 0;
	for (let i = 1; i < n; i++) {
		const above = places[parent[i]], mark = marks[frame[i]], number = of[frame[i]];
		focused[i] = focused[parent[i]] || (mark & EDIT_FOCUS ? 1 : 0);
		if (above === LEFT_OUT || mark & EDIT_IGNORE) places[i] = LEFT_OUT;
		else if (mark & EDIT_HIDE || (hidden && hidden[i]) ||
			 (edits.collapse && number > 0 && of[nodes.frame[above]] === number)) places[i] = above;
		else places[i] = nodes.child(above, frame[i]);
	}
	if (sleepers !== "all") placeSleepers(nodes, places, sleepers === "none");
	return { places, focused };
}

/*
 * The source as the edits leave it. `program`: without interpreters. `sleepers`: "all" where they sleep, in one "box", or
 * "none".
 */
function editTree(source, edits, program, sleepers) {
	const nodes = new EditedNodes(source), { places, focused } = placeNodes(nodes, edits, program, sleepers), counts = {};
	for (const key of ["total", "self", "base", "baseSelf"]) {
		if (!source[key]) continue;
		const from = key === "total" || key === "base" ? restsOf(source[key], source.parent) : source[key];
		counts[key] = new Float64Array(nodes.parent.length);
		for (let i = 0; i < source.n; i++)
			if (places[i] !== LEFT_OUT && focused[i]) counts[key][places[i]] += from[i];
	}
	return nodes.tree(counts);
}
