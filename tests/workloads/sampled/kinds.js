// SPDX-License-Identifier: GPL-2.0-or-later
// Generated code, the interpreter, the collector, regular expressions and built-in functions.
"use strict";
const crypto = require("crypto");
const zlib = require("zlib");

function fibonacci(n) {
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

class Tree {
	constructor(depth) {
		this.left = depth ? new Tree(depth - 1) : null;
		this.right = depth ? new Tree(depth - 1) : null;
	}
	count() {
		return 1 + (this.left ? this.left.count() + this.right.count() : 0);
	}
}

function round(n) {
	let sum = fibonacci(20) + new Tree(10).count();
	const items = Array.from({ length: 2000 }, (_, i) => ({ id: (i * 7919) % 997, name: "n" + i }));
	items.sort((a, b) => a.id - b.id || a.name.localeCompare(b.name));
	const text = JSON.stringify(items);
	sum += JSON.parse(text).map((item) => item.id).reduce((a, b) => a + b, 0);
	sum += text.replace(/"n(\d+)"/g, (_, digits) => digits).length;
	sum += new Function("a", "return a + " + n)(1); // not compiled before
	const map = new Map(items.map((item) => [item.name, item]));
	for (const [name, item] of map) sum += name.length + item.id;
	sum += crypto.createHash("sha256").update(text).digest()[0];
	sum += zlib.deflateSync(text).length;
	return sum;
}

async function main() {
	for (let n = 0; ; n++) {
		round(n);
		await new Promise((resolve) => setImmediate(resolve));
	}
}
main();
