// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a file with the code of other programs; prints the number of samples, then that of each leaf.
//	node read.mjs MODULES json FILE			our JSON, read here: what is expected
//	node read.mjs MODULES pprof FILE		pprof-format
//	node read.mjs MODULES speedscope FILE [NS]	speedscope's importer, for any format it knows;
//							NS: nanoseconds that it shows for one sample
//	node read.mjs MODULES order FILE		speedscope's order of time: the leaves, in lines
//	node read.mjs MODULES schema FILE		speedscope's schema: prints what violates it
//	node read.mjs MODULES firefox CLI-JSON...	profiler-cli's lists of functions
import fs from "fs";
import path from "path";
import vm from "vm";
import zlib from "zlib";
import { createRequire } from "module";

const [modules, what, file, ...more] = process.argv.slice(2);
const require = createRequire(path.join(modules, "of.js"));

function print(leaves) {
	let total = 0;
	const lines = [];
	for (const [name, count] of leaves) {
		total += count;
		if (count)
			lines.push(`${count}\t${name}`);
	}
	console.log([`total ${total}`, ...lines.sort()].join("\n"));
}

function add(leaves, name, count) {
	leaves.set(name, (leaves.get(name) ?? 0) + count);
}

function readJson() {
	const profile = JSON.parse(fs.readFileSync(file, "utf8"));
	const leaves = new Map();
	for (const stack of profile.stacks) {
		const leaf = stack.kernel_end === "missed" ? "[Missed Kernel Stack]"
			: stack.kernel.length ? stack.kernel[0]
			: stack.user_end === "missed" ? "[Missed User Stack]"
			: stack.user.length ? stack.user[0] : "[no stack]";
		const frame = profile.frames[leaf];
		const name = typeof leaf === "string" ? leaf
			: frame.name ?? (frame.generated ? "[jit]" : "[unknown]");
		add(leaves, name, stack.count);
	}
	print(leaves);
}

function readPprof() {
	const { Profile } = require("pprof-format");
	const profile = Profile.decode(zlib.gunzipSync(fs.readFileSync(file)));
	const strings = profile.stringTable.strings;
	const functions = new Map(profile.function.map(f => [Number(f.id), f]));
	const locations = new Map(profile.location.map(l => [Number(l.id), l]));
	// Stores of profiles demand that ids count up from 1.
	for (const table of [profile.function, profile.location, profile.mapping])
		table.forEach((row, i) => {
			if (Number(row.id) !== i + 1)
				throw new Error(`id ${row.id} in place ${i}`);
		});
	const leaves = new Map();
	for (const sample of profile.sample) {
		if (sample.value.length !== profile.sampleType.length)
			throw new Error("a sample without all its values");
		const leaf = locations.get(Number(sample.locationId[0]));
		const name = functions.get(Number(leaf.line[0].functionId)).name;
		add(leaves, strings[Number(name)], Number(sample.value[0]));
	}
	print(leaves);
}

// The importer is in the middle of the page's only script. The script is changed to export it, and run in
// a fake page.
async function speedscopeImporter() {
	const release = path.join(modules, "speedscope/dist/release");
	const script = fs.readdirSync(release).find(name => /^speedscope-.*\.js$/.test(name));
	const source = fs.readFileSync(path.join(release, script), "utf8");
	const promise = /var (\w+)=(Promise\.resolve\(\)\.then\(\(\)=>\(\w+\(\),\w+\)\));\1\.then/;
	if (!promise.test(source))
		throw new Error("speedscope's script has changed: where is its importer?");
	const element = new Proxy(function () {}, {
		get: (of, key) => key === Symbol.toPrimitive ? () => "" : element,
		apply: () => element,
		set: () => true,
	});
	const window = { document: element, location: { hash: "", href: "", protocol: "http:" },
		navigator: { platform: "", userAgent: "" }, localStorage: {}, devicePixelRatio: 1,
		addEventListener() {}, removeEventListener() {}, matchMedia: () => element,
		requestAnimationFrame() {}, setTimeout, clearTimeout, console: { ...console, log() {} },
		TextDecoder, TextEncoder, URL, performance, Uint8Array, ArrayBuffer, atob, btoa,
		FileReader: class {}, HTMLElement: class {}, Node: class {} };
	window.window = window.self = window;
	vm.createContext(window);
	try {
		vm.runInContext(source.replace(promise, "globalThis.importer=$2;var $1=importer;$1.then"),
			window);
	} catch (error) {
		if (!window.importer) // the code behind it needs a real page
			throw error;
	}
	return window.importer;
}

async function readSpeedscope() {
	const importer = await speedscopeImporter();
	const bytes = fs.readFileSync(file);
	const group = await importer.importProfilesFromArrayBuffer(path.basename(file),
		bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
	const each = Number(more[0] ?? 1);
	const leaves = new Map();
	if (!group)
		throw new Error("speedscope does not know this file");
	// The first profile of several in our own format repeats the others.
	const own = group.profiles.length > 1 && /^all (processes|threads)/.test(group.profiles[0].getName());
	for (const profile of own ? group.profiles.slice(1) : group.profiles)
		profile.forEachFrame(frame => add(leaves, frame.name,
			Math.round(frame.getSelfWeight() / each * 1e6) / 1e6));
	print(leaves);
}

// The leaves in the order of time, each once in a row.
async function readOrder() {
	const importer = await speedscopeImporter();
	const bytes = fs.readFileSync(file);
	const group = await importer.importProfilesFromArrayBuffer(path.basename(file),
		bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
	const stack = [], leaves = [];
	let at = 0;
	function leave(value) {
		const leaf = stack.at(-1);
		if (leaf !== undefined && value > at && leaf !== leaves.at(-1))
			leaves.push(leaf);
		at = value;
	}
	group.profiles[0].forEachCall((node, value) => {
		leave(value);
		stack.push(node.frame.name);
	}, (node, value) => {
		leave(value);
		stack.pop();
	});
	console.log(leaves.join("\n"));
}

function checkSchema() {
	const Ajv = require("ajv").default;
	const schema = path.join(modules, "speedscope/dist/release/file-format-schema.json");
	const validate = new Ajv({ strict: false, allErrors: true })
		.compile(JSON.parse(fs.readFileSync(schema)));
	if (!validate(JSON.parse(fs.readFileSync(file, "utf8")))) {
		console.log(JSON.stringify(validate.errors));
		process.exit(1);
	}
}

function readFirefox() {
	const leaves = new Map();
	for (const list of [file, ...more])
		for (const fn of JSON.parse(fs.readFileSync(list)).functions)
			add(leaves, fn.name, fn.selfSamples);
	print(leaves);
}

await { json: readJson, pprof: readPprof, speedscope: readSpeedscope, order: readOrder,
	schema: checkSchema, firefox: readFirefox }[what]();
