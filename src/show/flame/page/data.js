/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page's script is languages.js data.js colour.js label.js tree.js waits.js edits.js panel.js
 * functions.js parts.js timeline.js times.js menu.js saved.js address.js app.js, concatenated.
 *
 * Data is a block of bytes in the format of flame/page.h. stacktally.load(Uint8Array) shows it;
 * stacktally.update(Uint8Array) and stacktally.show(tree) keep zoom, search, filters and selection.
 * A page in a file has its block in #data, deflated, as base64.
 */

const KIND = { ROOT: 0, WHO: 1, KERNEL: 2, USER: 3, CPP: 4, JIT: 5, INLINED: 6, MARKER: 7, IDENTITY: 8, BLOCKED: 9,
	WAITING: 10 }; /* above: the language of a function */
const ON_KERNEL_SIDE = 128, INTEREST_SHIFT = 8;
/* How likely it is that a reader would change a function; above: of a program, of a script. */
const OF_RUNTIME = 3;

class Reader {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
		this.text = new TextDecoder();
	}
	number() {
		const bytes = this.bytes;
		let byte = bytes[this.at++], value = byte & 127, unit = 128;
		while (byte > 127) {
			byte = bytes[this.at++];
			value += (byte & 127) * unit;
			unit *= 128;
		}
		if (byte === undefined) throw new Error("the data ends too early");
		return value;
	}
	/* A count of elements of at least one byte each. */
	size() {
		const size = this.number();
		if (size > this.bytes.length - this.at) throw new Error("the data ends too early");
		return size;
	}
	string() {
		const size = this.size(), from = this.at;
		this.at += size;
		return this.text.decode(this.bytes.subarray(from, this.at));
	}
}

function readFrames(reader) {
	const strings = Array.from({ length: reader.size() }, () => reader.string());
	return Array.from({ length: reader.size() }, () => {
		const name = strings[reader.number()], module = strings[reader.number()];
		const flags = reader.number(), kind = flags & 127;
		const frame = { name, module, kind, kernel: (flags & ON_KERNEL_SIDE) !== 0, tgid: 0, tid: 0,
			interest: flags >> INTEREST_SHIFT };
		if (name === undefined || module === undefined) throw new Error("a frame without a name");
		if (kind === KIND.WHO) {
			frame.tgid = reader.number();
			frame.tid = reader.number();
		}
		return frame;
	});
}

/* Computes totals and the ends of subtrees, from the leaves up. */
function addUp(counts, parent) {
	for (let i = counts.length - 1; i > 0; i--) counts[parent[i]] += counts[i];
}

function readCounts(reader, parent) {
	const n = parent.length, total = new Float64Array(n);
	for (let i = 0; i < n; i++) total[i] = reader.number();
	const self = total.slice();
	if (reader.number()) for (let i = 0; i < n; i++) self[i] -= reader.number();
	addUp(total, parent);
	return { total, self };
}

/* When it was counted, or null. */
function readTimes(reader, n) {
	if (!reader.number()) return null;
	let at = 0;
	const seconds = Array.from({ length: reader.size() }, () => {
		const begin = at + reader.number(), ms = reader.number(), counts = [];
		let node = 0, samples = 0;
		for (let left = reader.size(); left > 0; left--) {
			node += reader.number();
			if (node >= n * 2) throw new Error("a count without a node");
			counts.push(node, reader.number());
			samples += counts[counts.length - 1];
		}
		at = begin + ms;
		return { at, ms, samples, lost: 0, counts };
	});
	const binMs = reader.number(), bins = Float64Array.from({ length: reader.size() }, () => reader.number());
	return seconds.length ? { seconds, binMs, bins } : null;
}

/*
 * A tree: arrays over its nodes in preorder, and the frames their numbers stand for. base and
 * baseSelf are null unless it is compared with another.
 */
function decodeBlock(bytes) {
	const reader = new Reader(bytes);
	if (String.fromCharCode(...bytes.subarray(0, 4)) !== "STF1") throw new Error("no flame graph data");
	reader.at = 4;
	const head = JSON.parse(reader.string());
	const frames = readFrames(reader), n = reader.size() || 1;
	const depth = new Uint32Array(n), parent = new Uint32Array(n), frame = new Uint32Array(n);
	const end = new Uint32Array(n), path = [0];
	let deepest = 0;
	for (let i = 1; i < n; i++) {
		depth[i] = depth[i - 1] + 1 - reader.number();
		if (depth[i] < 1 || depth[i] > i) throw new Error("a node without a parent");
		parent[i] = path[depth[i] - 1];
		path[depth[i]] = i;
		if (depth[i] > deepest) deepest = depth[i];
	}
	const before = new Uint32Array(deepest + 1);
	for (let i = 1; i < n; i++) {
		const at = depth[i], sibling = depth[i - 1] >= at;
		frame[i] = before[at] = reader.number() + (sibling ? before[at] : 0);
		if (frame[i] >= frames.length) throw new Error("a node without a frame");
	}
	for (let i = n - 1; i >= 0; i--) {
		if (end[i] === 0) end[i] = i + 1;
		if (i > 0 && end[parent[i]] < end[i]) end[parent[i]] = end[i];
	}
	const now = readCounts(reader, parent);
	const then = reader.number() ? readCounts(reader, parent) : { total: null, self: null };
	const times = readTimes(reader, n);
	return {
		head, frames, n, times, depth, parent, frame, end, deepest,
		total: now.total, self: now.self, base: then.total, baseSelf: then.self
	};
}

/* The block in the page of a file. */
async function blockOfPage() {
	const element = document.getElementById("data");
	if (!element) return null;
	const text = atob(element.textContent.trim()), bytes = new Uint8Array(text.length);
	for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
	element.remove();
	const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
	return new Uint8Array(await new Response(inflated).arrayBuffer());
}
