// SPDX-License-Identifier: GPL-2.0-or-later
// Calls getuid() while V8's objects are bent, as a hostile program could: node --expose-gc javascript_forged.js.
// Each call is from the function named after the change, which is found on the stack and bent through /proc/self/mem.
"use strict";
const fs = require("fs");

const memory = fs.openSync("/proc/self/mem", "r+");
function read(address, size) {
	const bytes = Buffer.alloc(size);
	try { fs.readSync(memory, bytes, 0, size, address); } catch { bytes.fill(0); }
	return bytes;
}
function word(address) { return read(address, 8).readBigUInt64LE(); }
function write(address, value) {
	const bytes = Buffer.alloc(8);
	bytes.writeBigUInt64LE(value);
	fs.writeSync(memory, bytes, 0, 8, Number(address));
}
function text(string) {
	const head = read(string - 1n, 16), length = head.readInt32LE(12);
	return length > 0 && length < 99 ? read(string + 15n, length).toString("latin1") : "";
}

/* What the closures of a function on the stack share, its scope and its name. */
function shared(name) {
	const [, from, to] = /^(\w+)-(\w+).*\[stack\]$/m.exec(fs.readFileSync("/proc/self/maps", "latin1"));
	const size = Math.min(parseInt(to, 16) - parseInt(from, 16), 1 << 20);
	const stack = read(BigInt(`0x${to}`) - BigInt(size), size);
	for (let at = 0; at < size; at += 8) {
		const closure = stack.readBigUInt64LE(at);
		if ((closure & 3n) !== 1n || closure >> 47n) continue;
		const shared = word(closure + 23n), scope = word(shared + 15n);
		if ((shared & 3n) === 1n && (scope & 3n) === 1n && word(scope + 23n) === 0n &&
		    text(word(scope + 31n)) === name && (name || text(word(word(scope + 47n) + 15n)) === "concatenation"))
			return { shared, scope, name: word(scope + 31n) };
	}
	throw new Error(`${name} is not on the stack`);
}

function bent(address, value) {
	const before = word(address);
	write(address, value);
	process.getuid();
	write(address, before);
}

function huge() { const { name } = shared("huge"); bent(name + 7n, word(name + 7n) & 0xffffffffn | 0x1ffffff0n << 32n); }
function wild() { const { shared: at } = shared("wild"); bent(at + 15n, 0x123456789abdn); }
function type() { const { shared: at } = shared("type"); bent(at - 1n, at); }
function scope() { const { scope } = shared("scope"); bent(scope + 31n, scope); }
function script() { const { shared: at } = shared("script"); bent(at + 31n, 0x7fffffff0001n); }
function count() { const { scope } = shared("count"); bent(scope + 23n, 0x7fffffffn << 32n); }
/* A concatenation, whose second part becomes itself. */
const concatenation = {};
concatenation.ofItself = function () {
	const { scope } = shared("");
	const cons = word(scope + 47n);
	bent(cons + 23n, cons);
};
function itself() { concatenation.ofItself(); }
function whole() { process.getuid(); }

gc(); // functions that survive it twice are not moved any more
gc();
console.log(`ready ${process.pid}`);
fs.readSync(0, Buffer.alloc(1));
setTimeout(function later() { for (const f of [huge, wild, type, scope, script, itself, count, whole]) f(); });
