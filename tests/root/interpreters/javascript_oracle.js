// SPDX-License-Identifier: GPL-2.0-or-later
// Calls getgroups() from stacks of all kinds, twice for each call of process.getgroups(), and writes its own account of them, which is V8's:
// node javascript_oracle.js FILE. Each line is as in a folded report with the functions of the program only.
"use strict";
const fs = require("fs"), path = require("path"), vm = require("vm");
const workers = require("worker_threads");

if (workers.isMainThread) {
	console.log(`ready ${process.pid}`);
	fs.readSync(0, Buffer.alloc(1));
}

const account = new Map();
Error.stackTraceLimit = Infinity;

/* Names that a function gets only when its class or object is made are not known: [Symbol.iterator]. */
function name(site) {
	const name = site.getFunctionName();
	return !name || name.startsWith("[") ? "<anonymous>" : name;
}

/* The functions that have frames, outermost first: not those that wait, nor those in C++. */
function functions(sites) {
	const names = [];
	for (const site of sites) {
		const file = site.getScriptNameOrSourceURL();
		if (site.isAsync() || (!file && !site.isEval())) continue;
		const base = file?.startsWith("node:") ? file : path.basename(file || "<anonymous>");
		names.unshift(`${name(site)} (${base})`);
	}
	return names.join(";");
}
Error.prepareStackTrace = (error, sites) => functions(sites);

function probe() {
	const line = new Error().stack;
	account.set(line, (account.get(line) || 0) + 2);
	process.getgroups();
	return 0;
}

function write(to) {
	let text = "";
	for (const [line, n] of account) text += `${line} ${n}\n`;
	fs.appendFileSync(to, text);
}

function recurse(n) { return n ? recurse(n - 1) : probe(); }
function manyVariables(n) {
	const code = Array.from({ length: n }, (_, i) => `let v${i} = ${i};`).join("");
	const uses = Array.from({ length: n }, (_, i) => `v${i}`).join("+");
	return new Function("probe", `${code} return function many${n}() { probe(); return ${uses}; }`)(probe);
}

class Base {
	#hidden() { probe(); }
	constructor() { probe(); }
	method() { probe(); this.#hidden(); return this; }
	get value() { return probe(); }
	set value(to) { probe(); }
	static made() { probe(); return new this(); }
	*[Symbol.iterator]() { probe(); yield 1; probe(); yield 2; }
	toString() { probe(); return "text"; }
	toJSON() { probe(); return {}; }
}
class Derived extends Base {
	field = probe();
	method() { super.method(); return super.method(); }
	arrow = () => probe();
	static { probe(); }
}

function methods() {
	const it = Derived.made().method();
	it.value = it.value;
	`${it}`;
	JSON.stringify(it);
	for (const each of it) probe();
	[...it];
	it.arrow();
	it.added = function () { probe(); };
	it.added();
	it.later = it.added.bind(it);
	it.later();
	it.method.call(it);
	it.method.apply(it, [1, 2]);
	Reflect.construct(Derived, []);
	new Proxy(it, { get() { probe(); return 1; } }).anything;
	it.großeGröße_имя_名前 = function () { probe(); };
	it.großeGröße_имя_名前();
	({ computed() { probe(); }, ["na" + "me"]: 1 }).computed();
	({ valueOf() { probe(); return 1; } }) + 1;
}

function closures() {
	const outer = (x) => (() => { probe(); return x; })();
	[1, 2, 3].map(outer);
	[1, 2, 3].forEach(function each(x) { recurse(x); });
	[3, 1, 2].sort((a, b) => { probe(); return a - b; });
	[1, 2].reduce((sum, x) => sum + probe(), 0);
	[1].flatMap(outer);
	Array.from([1, 2], outer);
	new Map([[1, 2]]).forEach(() => probe());
	"abc".replace(/b/g, () => { probe(); return "x"; });
	JSON.parse("[1, 2]", (key, value) => { probe(); return value; });
	(function immediately() { probe(); })();
	recurse.call(null, 2, "one argument too many");
	((a, b, c) => probe())(1);
	for (const n of [2, 74, 75, 76, 200]) manyVariables(n)();
	const longName = "long_".repeat(150);
	[1].map((0, eval)(`(function ${longName.slice(0, 400)}() { probe(); })`));
}
globalThis.probe = probe;

function texts() {
	eval("probe()");
	(0, eval)("probe()");
	eval("(function inEval() { probe(); })()");
	new Function("probe()")();
	vm.runInThisContext("probe()", { filename: "/else/where/" + "script_" + "of_a_machine.js" });
	new vm.Script("function inScript() { probe(); } inScript()", { filename: "script.js" }).runInThisContext();
	vm.runInNewContext("f()", { f: probe }, { filename: "путь/скрипт_😀.js" });
}

function errors() {
	try {
		try { null.f(); } finally { probe(); }
	} catch { probe(); }
	try { recurse.apply(null, { get length() { probe(); throw new Error(); } }); } catch {}
}

function* generator(n) { for (let i = 0; i < n; i++) { probe(); yield i; } return probe(); }
function* delegates() { yield* generator(2); }
function generators() {
	for (const i of generator(3)) recurse(i);
	[...delegates()];
}

async function waits(n) { probe(); await null; probe(); return n ? waits(n - 1) : 0; }
async function* asyncGenerator() { probe(); yield 1; await null; probe(); yield 2; }
async function promises() {
	await waits(2);
	for await (const x of asyncGenerator()) probe();
	await Promise.all([waits(0), waits(1)]);
	await new Promise((resolve) => setTimeout(() => { probe(); resolve(); }, 1));
	await new Promise((resolve) => setImmediate(() => resolve(probe())));
	await new Promise((resolve) => process.nextTick(function ticked() { resolve(probe()); }));
	await Promise.reject(new Error()).catch(() => probe()).finally(() => probe());
	await { then(resolve) { probe(); resolve(); } };
	queueMicrotask(() => probe());
}

async function modules(directory) {
	fs.writeFileSync(path.join(directory, "part.js"), "probe(); exports.f = function () { probe(); };");
	fs.writeFileSync(path.join(directory, "part.mjs"), `import { f } from "./part.js";
		probe(); export function exported() { f(); probe(); } export default () => probe();
		await null; probe();`);
	require(path.join(directory, "part.js")).f();
	const module = await import(path.join(directory, "part.mjs"));
	module.exported();
	module.default();
}

function hot(n) { return n % 1000 ? n : small(n); }
function small(n) { return n % 20000 ? 0 : probe(); }
function warm() { for (let n = 1; n <= 200000; n++) hot(n); }

async function main(to) {
	for (let n = 0; n < 20; n++) recurse(n);
	recurse(700);
	methods();
	closures();
	texts();
	errors();
	generators();
	warm();
	await promises();
	await modules(path.dirname(to));
	if (workers.isMainThread)
		await new Promise((resolve) => new workers.Worker(__filename, { argv: [to] }).on("exit", resolve));
	write(to);
}
main(process.argv[2]);
