/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is seen as a page in one file: the data, and how the page opens, which is as it is now. It is made of this page's
 * own parts, so that it can be saved without a server, and has the same policy.
 */

const bodyAsLoaded = document.body.cloneNode(true); /* before the scripts changed it */

/* The state that a saved page opens with, as an address has it. */
function opensWith() {
	return document.querySelector("meta[name=opens]")?.content || "";
}

class Writer {
	constructor() {
		this.bytes = new Uint8Array(1 << 16);
		this.n = 0;
	}
	room(size) {
		if (this.n + size <= this.bytes.length) return;
		const grown = new Uint8Array((this.n + size) * 2);
		grown.set(this.bytes.subarray(0, this.n));
		this.bytes = grown;
	}
	number(value) {
		this.room(10);
		for (; value > 127; value = Math.floor(value / 128)) this.bytes[this.n++] = value % 128 | 128;
		this.bytes[this.n++] = value;
	}
	string(text) {
		const bytes = encoder.encode(text);
		this.number(bytes.length);
		this.room(bytes.length);
		this.bytes.set(bytes, this.n);
		this.n += bytes.length;
	}
}

/* The frames of a tree in the order of siblings, of which the first is the root's; and the new number of each. */
function framesInOrder(tree) {
	const rank = new Map(), used = [...new Set(tree.frame)], { frames } = tree;
	const text = (frame) => `${frame.name}\n${frame.module}`;
	used.sort((a, b) => a === 0 ? -1 : b === 0 ? 1 : text(frames[a]) < text(frames[b]) ? -1 : text(frames[a]) > text(frames[b]) ? 1 : a - b);
	used.forEach((frame, at) => rank.set(frame, at));
	return { used, rank };
}

function putFrames(writer, { frames }, used) {
	const strings = new Map(), number = (text) => {
		if (!strings.has(text)) strings.set(text, strings.size);
		return strings.get(text);
	};
	const rows = used.map((at) => [number(frames[at].name), number(frames[at].module), frames[at]]);
	writer.number(strings.size);
	for (const text of strings.keys()) writer.string(text);
	writer.number(rows.length);
	for (const [name, module, frame] of rows) {
		writer.number(name);
		writer.number(module);
		writer.number(frame.kind + (frame.kernel ? ON_KERNEL_SIDE : 0) + ((frame.interest || 0) << INTEREST_SHIFT));
		if (frame.kind !== KIND.WHO) continue;
		writer.number(frame.tgid);
		writer.number(frame.tid);
	}
}

/* The nodes of a tree in preorder whose siblings are in the order of ranks. */
function nodesInOrder(tree, rank) {
	const order = [], open = [0];
	while (open.length) {
		const node = open.pop(), children = [];
		order.push(node);
		for (let c = node + 1; c < tree.end[node]; c = tree.end[c]) children.push(c);
		children.sort((a, b) => rank.get(tree.frame[b]) - rank.get(tree.frame[a]));
		for (const child of children) open.push(child);
	}
	return order;
}

function putCounts(writer, order, total, self, parent) {
	const rests = restsOf(total, parent);
	let hides = 0;
	for (const node of order) {
		writer.number(rests[node]);
		if (rests[node] > self[node]) hides = 1;
	}
	writer.number(hides);
	if (hides) for (const node of order) writer.number(Math.max(0, rests[node] - self[node]));
}

/* A tree as a block in the format of flame/page.h, without times. */
function encodeBlock(tree) {
	const writer = new Writer(), { used, rank } = framesInOrder(tree), order = nodesInOrder(tree, rank), before = [];
	for (const letter of "STF1") writer.bytes[writer.n++] = letter.charCodeAt(0);
	writer.string(JSON.stringify(tree.head));
	putFrames(writer, tree, used);
	writer.number(order.length);
	for (let i = 1; i < order.length; i++) writer.number(tree.depth[order[i - 1]] + 1 - tree.depth[order[i]]);
	for (let i = 1; i < order.length; i++) {
		const depth = tree.depth[order[i]], frame = rank.get(tree.frame[order[i]]);
		writer.number(tree.depth[order[i - 1]] >= depth ? frame - before[depth] : frame);
		before[depth] = frame;
	}
	putCounts(writer, order, tree.total, tree.self, tree.parent);
	writer.number(tree.base ? 1 : 0);
	if (tree.base) putCounts(writer, order, tree.base, tree.baseSelf, tree.parent);
	writer.number(0);
	return writer.bytes.subarray(0, writer.n);
}

async function deflated(bytes) {
	const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
	const packed = new Uint8Array(await new Response(stream).arrayBuffer()), parts = [];
	for (let at = 0; at < packed.length; at += 0x8000) parts.push(String.fromCharCode(...packed.subarray(at, at + 0x8000)));
	return btoa(parts.join(""));
}

/* The text of a page with this data, deflated, which opens with that state. */
function pageWith(data, opens) {
	const body = bodyAsLoaded.cloneNode(true), quoted = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
	const policy = document.querySelector("meta[http-equiv=Content-Security-Policy], meta[name=policy-of-files]").content;
	const held = body.querySelector("#data") || make("script", { type: "application/octet-stream", id: "data" });
	held.textContent = data;
	body.querySelector("script:not(#data)").before(held);
	return `<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n` +
		`<meta http-equiv="Content-Security-Policy" content="${quoted(policy)}">\n` +
		`<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="referrer" content="no-referrer">\n` +
		`<meta name="opens" content="${quoted(opens)}">\n<title>Flame graph</title>\n` +
		`<style>${document.querySelector("style").textContent}</style>\n</head>\n${body.outerHTML}\n</html>\n`;
}

function saveAs(name, type, parts) {
	const url = URL.createObjectURL(new Blob(parts, { type }));
	make("a", { href: url, download: name }).click();
	setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/* Saves what is seen. The live page has another tree than the block it was loaded with. */
async function saveView() {
	const { data } = state, live = data.whole !== undefined;
	const block = live ? await deflated(encodeBlock(data.whole())) : bodyAsLoaded.querySelector("#data").textContent.trim();
	saveAs(`${data.head.title.split(" ", 1)[0]}-seen.html`, "text/html", [pageWith(block, addressOf(!live))]);
}
