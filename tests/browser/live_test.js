/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watches a measurement as its readers do:
 *
 *	node live_test.js MODULES DIR CHROMIUM URL PROGRAMS PID
 *
 * URL is that of a `profile --live` of PID, with programs of PROGRAMS (tests/workloads) started and
 * ended here. Screenshots and saved files are left in DIR. ONLY=PART in the
 * environment runs the cases with that in their names.
 */
"use strict";
const fs = require("fs"), path = require("path"), http = require("http");
const { spawn } = require("child_process");
const [modules, directory, executablePath, url, programs, pid] = process.argv.slice(2);
const { chromium } = require(path.join(modules, "node_modules/playwright-core"));

let failed = 0, browser;
const running = new Map();

function equal(got, wanted, what) {
	const a = JSON.stringify(got), b = JSON.stringify(wanted);
	if (a !== b) throw new Error(`${what}: ${a} instead of ${b}`);
}

function holds(is, what) {
	if (!is) throw new Error(what);
}

/* Fails after a while: a browser that hangs keeps no promise, and most calls of it have no timeout. */
const late = (ms) => new Promise((done, failed) => setTimeout(() => failed(new Error(`not over after ${ms / 1000} s`)), ms).unref());

async function test(name, run) {
	if (!name.includes(process.env.ONLY || "")) return;
	try {
		await Promise.race([run(), late(150000)]);
		console.log(`ok ${name}`);
	} catch (error) {
		failed++;
		console.log(`FAIL ${name}: ${error.message.split("\n").slice(0, 3).join(" ")}`);
		/* What it left open would disturb the next ones. */
		await Promise.race([browser.close(), late(10000)]).catch(() => {});
		await launch();
		for (const program of [...running.keys()]) if (program !== "nested") end(program);
		if (!running.has("nested")) start("nested");
	}
}

/* Under a name of our own, as other tests run the same programs, or this one at the same time. */
function start(name) {
	const file = path.join(directory, ours(name));
	fs.copyFileSync(path.join(programs, name), file);
	fs.chmodSync(file, 0o755);
	run(name, file);
}
const prefix = `live-${process.pid % 1000}-`;
function ours(name) {
	return (prefix + name).slice(0, 15); /* the kernel keeps no more of it */
}
function run(name, file) {
	running.set(name, spawn(file, [], { stdio: ["ignore", "ignore", "ignore"] }));
}

function end(name) {
	running.get(name).kill("SIGKILL");
	running.delete(name);
	/* Its file can be replaced once it has ended. */
	fs.rmSync(path.join(directory, ours(name)), { force: true });
}

const shot = (page, name) => page.screenshot({ path: path.join(directory, name + ".png") });

async function open(address = url, options = {}) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 820 }, acceptDownloads: true, ...options });
	const page = await context.newPage(), wrong = [], origin = new URL(address).origin;
	page.setDefaultTimeout(60000);
	page.on("pageerror", (error) => wrong.push(error.message));
	page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
	page.on("dialog", (dialog) => { wrong.push("a dialog"); dialog.dismiss(); });
	page.on("request", (request) => new URL(request.url()).origin !== origin && wrong.push("a request: " + request.url()));
	await page.exposeFunction("pwned", () => wrong.push("a name ran as script"));
	/* The boxes of a function of our programs, or of one of them. */
	await page.addInitScript((ourPrefix) => {
		window.boxesOf = (tree, name) => {
			const found = [];
			let our = false;
			for (let i = 1; tree && i < tree.n; i++) {
				const frame = tree.frames[tree.frame[i]];
				if (tree.depth[i] === 1) our = frame.name.startsWith(ourPrefix) || frame.name.startsWith("<img");
				if (our && frame.name === name) found.push(i);
			}
			return found;
		};
	}, prefix);
	await page.goto(address);
	await page.waitForFunction(() => stacktally.live.updates > 0);
	page.finish = async () => {
		equal(wrong, [], "what went wrong in the page");
		await context.close();
	};
	return page;
}

/* Wait for `n` more updates of the picture, or seconds of the model. */
async function updates(page, n) {
	const before = await page.evaluate(() => stacktally.live.updates);
	await page.waitForFunction((wanted) => stacktally.live.updates >= wanted, before + n);
}
async function seconds(page, n) {
	const before = await page.evaluate(() => stacktally.live.model.tick);
	await page.waitForFunction((wanted) => stacktally.live.model.tick >= wanted, before + n);
	return before + n;
}

/* The middle of the widest box with that name, once it is wide enough to be drawn. */
async function place(page, name) {
	const found = await page.waitForFunction(placeNow, name);
	return found.jsonValue();
}
const placeNow = (wanted) => {
	const it = stacktally.panels.graph, box = it.canvas.getBoundingClientRect(), boxes = new Set(boxesOf(it.tree, wanted));
	let found = null;
	for (let depth = 0; depth < it.rows.length; depth++)
		for (let at = 0; it.rows[depth] && at < it.rows[depth].length; at += 3) {
			const [node, x, width] = it.rows[depth].slice(at, at + 3);
			if (!boxes.has(node)) continue;
			if (width >= 3 && (!found || width > found.width))
				found = { x: box.x + x + width / 2, y: box.y + it.top(depth) + 9, width, total: it.tree.total[node], node };
		}
	return found;
};
/* Zooms into it by a click or a touch. The picture is held meanwhile, as boxes may move with an update. */
async function zoomInto(page, name, press = (box) => page.mouse.click(box.x, box.y)) {
	await place(page, name);
	await page.click("#pause");
	await press(await place(page, name));
	equal((await zoomedTo(page))[0], name, "zoomed to");
	await page.click("#pause");
}
const appears = (page, name) => page.waitForFunction((wanted) => {
	const { tree } = stacktally.state;
	return boxesOf(tree, wanted).some((node) => tree.total[node] > 0);
}, name);
const zoomedTo = (page) => page.evaluate(() => {
	const it = stacktally.panels.graph;
	return [it.tree.frames[it.tree.frame[it.zoomed]].name, it.tree.total[it.zoomed] > 0];
});

/* ---- updates ---- */

async function movingTests() {
	await test("live: updates arrive", async () => {
		const page = await open();
		await appears(page, "burn");
		const before = await page.evaluate(() => [stacktally.live.model.tick, stacktally.live.model.samples]);
		await updates(page, 3);
		const after = await page.evaluate(() => [stacktally.live.model.tick, stacktally.live.model.samples, stacktally.live.model.lost,
			stacktally.state.tree.total[0], stacktally.live.model.bins.n]);
		holds(after[0] >= before[0] + 3 && after[1] > before[1], `${before} then ${after}`);
		holds(after[3] > 0 && after[4] > 50, `what is shown: ${after}`);
		holds((await page.locator("#live").textContent()).startsWith("live "), "says that it is live");
		holds(/ \(\d\d:\d\d:\d\d to \d\d:\d\d:\d\d\)(  ·|$)/.test(await page.locator("#subtitle").textContent()), "the times of day");
		await page.finish();
	});
	await test("live: pause holds, and goes on", async () => {
		const page = await open(), now = () => page.evaluate(() =>
			[stacktally.live.updates, stacktally.state.tree.total[0], stacktally.live.shown.to]);
		await page.keyboard.press(" ");
		equal(await page.evaluate(() => stacktally.live.paused), true, "paused");
		const held = await now();
		const tick = await seconds(page, 3);
		equal(await now(), held, "what is shown");
		holds((await page.locator("#live").textContent()).startsWith("paused"), "says that it is paused");
		await page.click("#pause");
		await page.waitForFunction((wanted) => stacktally.live.shown.to >= wanted, tick);
		await page.finish();
	});
	await test("live: zoom and search are kept across updates", async () => {
		const page = await open();
		await appears(page, "burn");
		await zoomInto(page, "outer");
		await updates(page, 2);
		equal(await zoomedTo(page), ["outer", true], "zoomed to");
		await page.keyboard.press("/");
		await page.keyboard.type("bur");
		await updates(page, 1);
		await page.keyboard.type("n$");
		await updates(page, 2);
		equal(await page.locator("#search").inputValue(), "burn$", "the search");
		holds(/^(9\d|100)\.\d\d % matched$/.test(await page.locator("#matched").textContent()),
			await page.locator("#matched").textContent());
		equal(await page.evaluate(() => document.activeElement.id), "search", "where one types");
		await shot(page, "live-zoomed");
		await page.finish();
	});
	await test("live: the zoomed function may stop and come back", async () => {
		const page = await open();
		await page.selectOption("#time", "1");
		await appears(page, "outer");
		await zoomInto(page, "outer");
		end("nested");
		await page.waitForFunction(() => stacktally.panels.graph.tree.total[stacktally.panels.graph.zoomed] === 0);
		equal(await zoomedTo(page), ["outer", false], "zoomed to");
		start("nested");
		await page.waitForFunction(() => stacktally.panels.graph.tree.total[stacktally.panels.graph.zoomed] > 0);
		equal(await zoomedTo(page), ["outer", true], "zoomed to");
		await page.keyboard.press("Escape");
		equal((await zoomedTo(page))[0], "all", "zoomed to");
		await page.finish();
	});
	await test("live: functions, callers and callees move too", async () => {
		const page = await open();
		await appears(page, "burn");
		await page.keyboard.press("2");
		const first = () => page.locator("#functions tbody tr").allTextContents();
		const before = await first();
		holds(before.some((row) => row.includes("burn")), "the table");
		await page.waitForFunction((was) => JSON.stringify([...document.querySelectorAll("#functions tbody tr")].map((row) => row.textContent)) !== was,
			JSON.stringify(before));
		/* Held down while updates come. */
		const row = await page.locator("#hottest tbody tr", { hasText: /burn/ }).first();
		await row.hover();
		await page.mouse.down();
		await updates(page, 2);
		await page.mouse.up();
		const heading = () => page.locator("#sandwich-of").textContent(), was = await heading();
		holds(was.includes(" \u2014 "), `the heading: ${was}`);
		await page.waitForFunction((text) => document.getElementById("sandwich-of").textContent !== text, was);
		equal((await heading()).split(" \u2014 ")[0], was.split(" \u2014 ")[0], "the function");
		await page.finish();
	});
}

/* ---- time ---- */

/* The sum of the server's counts in these seconds. */
const counted = (page, from, to) => page.evaluate(async ([a, b]) => {
	const { counts } = await (await fetch(`counts?from=${a}&to=${b}`)).json();
	return counts.reduce((sum, value, at) => sum + (at & 1 ? value : 0), 0);
}, [from, to]);

async function timeTests() {
	await test("live: a stretch is picked on the timeline, and stays", async () => {
		const page = await open();
		await page.waitForFunction(() => stacktally.live.model.tick > 6);
		/* The scale does not change while it is used. */
		await page.evaluate(() => { stacktally.timeline.spanWanted = 600; stacktally.timeline.paint(); });
		const box = await page.locator("#timeline canvas").boundingBox();
		/* From the middle of one to that of another; on a busy machine they are not equally long. */
		const [left, right] = await page.evaluate(() => [3, 5].map((second) => {
			const [start, end] = stacktally.live.model.span(second, second);
			return stacktally.timeline.xOf((start + end) / 2);
		}));
		await page.mouse.move(box.x + left, box.y + 20);
		await page.mouse.down();
		await page.mouse.move(box.x + right, box.y + 30, { steps: 4 });
		await page.mouse.up();
		await page.waitForFunction(() => stacktally.live.shown.from > 0 && stacktally.live.choice.from);
		const { from, to, total } = await page.evaluate(() => ({ ...stacktally.live.shown, total: stacktally.state.tree.total[0] }));
		holds(to - from >= 1 && to - from <= 4, `seconds ${from} to ${to}`);
		equal(total, await counted(page, from, to), "samples");
		equal(await page.locator("#time").inputValue(), "picked", "the list of times");
		await seconds(page, 2);
		equal(await page.evaluate(() => stacktally.state.tree.total[0]), total, "samples later");
		await page.focus("#timeline");
		await page.keyboard.press("ArrowRight");
		await page.waitForFunction((wanted) => stacktally.live.shown.to === wanted, to + 1);
		equal(await page.evaluate(() => stacktally.state.tree.total[0]), await counted(page, from + 1, to + 1), "samples one second on");
		await shot(page, "live-stretch");
		await page.selectOption("#time", "all");
		await page.waitForFunction(() => stacktally.live.shown.from === 0);
		const all = await page.evaluate(() => [stacktally.state.tree.total[0], stacktally.live.model.samples]);
		holds(all[0] <= all[1] && all[0] > total, `all since the start: ${all}`);
		await page.finish();
	});
	await test("live: the difference between then and now", async () => {
		const page = await open();
		await page.selectOption("#time", "5");
		await appears(page, "burn");
		await updates(page, 4);
		await page.click("#compare");
		end("nested");
		start("recursion");
		await page.waitForFunction((started) => {
			const { tree } = stacktally.state;
			return tree.base && boxesOf(tree, "middle").some((node) => tree.base[node] > 0 && tree.total[node] === 0) &&
				boxesOf(tree, started).some((node) => tree.total[node] > 0 && tree.base[node] === 0);
		}, ours("recursion"));
		equal(await page.locator("#colour").inputValue(), "change", "colours");
		const [gone, fresh] = await page.evaluate((started) => {
			const it = stacktally.panels.graph, { tree } = it;
			return ["middle", started].map((name) => {
				const node = boxesOf(tree, name).find((it) => tree.base[it] === 0 || tree.total[it] === 0);
				return it.colour(tree.frame[node], node);
			});
		}, ours("recursion"));
		holds(/^hsl\(214\b/.test(gone) && /^hsl\(4\b/.test(fresh), `${gone} and ${fresh}`);
		await shot(page, "live-difference");
		await page.keyboard.press("t");
		await page.waitForFunction(() => stacktally.state.tree.base === null);
		equal(await page.locator("#colour").inputValue(), "kind", "colours afterwards");
		end("recursion");
		start("nested");
		await page.finish();
	});
}

/* ---- files ---- */

const paths = (page, filter) => page.evaluate((wanted) => {
	Object.assign(stacktally.state.filter, { comm: null, tgid: null, tid: null, ...wanted });
	const data = stacktally.state.data, tree = data.filtered ? data.filtered(stacktally.state.filter) : filterTree(data, stacktally.state.filter);
	const found = {}, path = [];
	for (let i = 0; i < tree.n; i++) {
		const frame = tree.frames[tree.frame[i]];
		path.length = tree.depth[i];
		path.push(i ? `${frame.name}|${frame.module}|${frame.kind}` : "");
		if (tree.total[i] > 0) found[path.join(";")] = (found[path.join(";")] || 0) + tree.total[i];
	}
	return found;
}, filter);

/*
 * Where too many processes were seen, later ones of a name are one box in the live page, without a
 * number (docs/live.md). Those names are compared without numbers.
 */
function withoutNumbers(found, shared) {
	const sums = {};
	for (const [path, count] of Object.entries(found)) {
		const [, name, rest] = /^;(.*?)(?: \d+)?(\|\|1(?:;.*)?)$/.exec(path) || [];
		const to = shared.has(name) ? `;${name}${rest}` : path;
		sums[to] = (sums[to] || 0) + count;
	}
	return sums;
}
/* The number of paths, and a hash of all with their counts: they are tens of megabytes in a browser that has little of the CPUs. */
const digest = (page, filter, shared) => page.evaluate(([wanted, names]) => {
	Object.assign(stacktally.state.filter, { comm: null, tgid: null, tid: null, ...wanted });
	const data = stacktally.state.data, tree = data.filtered ? data.filtered(stacktally.state.filter) : filterTree(data, stacktally.state.filter);
	const hashes = new Uint32Array(tree.n), sums = new Map(), mix = (hash, text) => {
		for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
		return hash;
	};
	for (let i = 1; i < tree.n; i++) {
		const frame = tree.frames[tree.frame[i]], bare = tree.depth[i] === 1 ? frame.name.replace(/ \d+$/, "") : "";
		hashes[i] = mix(hashes[tree.parent[i]] + 1, `${names.includes(bare) ? bare : frame.name}|${frame.module}|${frame.kind};`);
		if (tree.total[i] > 0) sums.set(hashes[i], (sums.get(hashes[i]) || 0) + tree.total[i]);
	}
	return [sums.size, [...sums].sort((a, b) => a[0] - b[0]).reduce((hash, [path, count]) => mix(hash, `${path} ${count};`), 1)];
}, [filter, [...shared]]);
const sharedNames = (page) => page.evaluate(() => stacktally.live.model.sharedFrom === 0 ? []
	: stacktally.live.model.frames.list.filter((it) => it.kind === KIND.WHO && !it.tgid).map((it) => it.name));

async function fileTests() {
	await test("live: every format is saved from the page, with the counts shown", async () => {
		const page = await open();
		/* A page that is paused before the first second arrives shows nothing, and saves everything since the start. */
		await appears(page, "burn");
		await page.keyboard.press(" ");
		const total = await page.evaluate(() => stacktally.state.tree.total[0]);
		await page.keyboard.press("w");
		const links = page.locator("#save-list a"), n = await links.count();
		equal(n, await page.evaluate(() => stacktally.live.model.formats.length), "links");
		await shot(page, "live-save");
		for (let i = 0; i < n; i++) {
			const [download] = await Promise.all([page.waitForEvent("download"), links.nth(i).click()]);
			const name = await links.nth(i).textContent(), file = path.join(directory, "saved-" + download.suggestedFilename());
			await download.saveAs(file);
			const data = fs.readFileSync(file);
			holds(data.length > 100, `${name}: ${data.length} bytes`);
			if (name === "folded")
				equal(data.toString().trim().split("\n").reduce((sum, line) => sum + Number(line.split(" ").pop()), 0), total, "folded samples");
			if (name === "json") equal(JSON.parse(data).measurement.samples, total, "JSON's samples");
			if (name === "html") {
				const context = await browser.newContext(), saved = await context.newPage();
				await saved.goto("file://" + file);
				await saved.waitForFunction(() => stacktally.timings.painted);
				const shared = new Set(await sharedNames(page));
				for (const side of ["all", "user", "kernel"])
					for (const split of ["comm", "process", "none"]) {
						const found = await digest(page, { side, split }, shared);
						holds(found[0] > 3, `nothing for ${side}, ${split}`);
						if (JSON.stringify(found) === JSON.stringify(await digest(saved, { side, split }, shared))) continue;
						const [one, other] = [await paths(page, { side, split }), await paths(saved, { side, split })]
							.map((found) => withoutNumbers(found, shared));
						const differ = Object.keys({ ...one, ...other }).filter((key) => one[key] !== other[key]);
						equal(differ.slice(0, 2).map((key) => [key, one[key], other[key]]), [["the", "hashes", "differ"]], `${side}, ${split}`);
					}
				await context.close();
			}
		}
		await page.keyboard.press("Escape");
		await page.finish();
	});
	await test("live: what is seen is saved as a page that opens as it is, a comparison too", async () => {
		const page = await open(), file = path.join(directory, "saved-seen.html");
		await appears(page, "burn");
		await page.keyboard.press("t");
		await page.waitForFunction(() => stacktally.state.tree.base !== null && stacktally.state.tree.base[0] > 0);
		await page.selectOption("#split", "process");
		await page.evaluate((ourPrefix) => {
			const burn = live.model.frames.list.find(({ name, module }) => name === "burn" && module.startsWith(ourPrefix));
			edited(() => edit.focus(functionKey(burn)));
		}, prefix);
		await zoomInto(page, "outer");
		await page.click("#pause");
		const seen = (of) => of.evaluate(() => {
			const { tree } = stacktally.state, it = stacktally.panels.graph, found = {};
			for (let i = 0; i < tree.n; i++) {
				const { name } = tree.frames[tree.frame[i]], sums = found[name] = found[name] || [0, 0, 0, 0];
				[tree.total[i], tree.self[i], tree.base[i], tree.baseSelf[i]].forEach((count, at) => { sums[at] += count; });
			}
			return { found, zoomed: tree.frames[tree.frame[it.zoomed]].name, focus: stacktally.state.edits.focus,
				split: document.getElementById("split").value, colour: document.getElementById("colour").value,
				subtitle: document.getElementById("subtitle").textContent };
		});
		const wanted = await seen(page);
		holds(wanted.found.burn[0] > 0 && wanted.found.burn[2] > 0 && wanted.zoomed === "outer" && wanted.focus.startsWith("burn\n"), JSON.stringify(wanted));
		await page.keyboard.press("w");
		const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save-seen button")]);
		await download.saveAs(file);
		const context = await browser.newContext(), saved = await context.newPage(), wrong = [];
		saved.on("pageerror", (error) => wrong.push(error.message));
		saved.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
		await saved.goto("file://" + file);
		await saved.waitForFunction(() => stacktally.timings.painted);
		equal(await seen(saved), wanted, "what the file shows");
		await shot(saved, "live-seen");
		/* All is in it, not what is seen alone. */
		await saved.evaluate(() => edited(() => edit.focus("")));
		holds(await saved.evaluate(() => stacktally.state.tree.total[0]) > wanted.found.all[0], "all of the range");
		equal(wrong, [], "what went wrong in the file");
		await context.close();
		await page.finish();
	});
	await test("live: the timeline shows who had the CPUs, and when", async () => {
		const page = await open(), name = ours("nested");
		await appears(page, "burn");
		await page.waitForFunction(() => stacktally.live.model.tick > 3);
		/* In parts of the newest second as many samples as in the tree. */
		const [of, own, all] = await page.evaluate(async (wanted) => {
			const { model } = stacktally.live, { tick } = model, second = model.second(tick);
			const parts = model.partsOf(second, { comm: null, tgid: null, tid: null, split: "comm" });
			const sums = model.who(model.countsOf(tick, tick)), sum = (list) => list.reduce((total, [, count]) => total + count, 0);
			return [[...parts].map(([label, { count }]) => [label, count]).sort(), sum(sums.filter(([frame]) => frame.name === wanted)), sum(sums)];
		}, name);
		equal([of.find(([label]) => label === name)?.[1] || 0, of.reduce((sum, [, count]) => sum + count, 0)], [own, all], "parts of a second");
		const clocks = await page.evaluate(() => amountOf(stacktally.live.model.samples, stacktally.live.model.now, stacktally.live.model.head));
		holds(clocks > 0 && clocks < 1.2 * require("os").cpus().length, `${clocks} CPUs`);
		/* A press on a name shows it alone, and its processes. */
		await page.evaluate((wanted) => { stacktally.timeline.parts.choose(new Map([[wanted, { count: 1 }]])); }, name);
		await page.waitForFunction(() => document.querySelectorAll(".parts button").length > 0);
		const first = await page.locator(".parts button").first().getAttribute("value");
		await page.locator(".parts button").first().click();
		await page.waitForFunction((value) => JSON.stringify([stacktally.state.filter.comm, stacktally.state.filter.tgid]) === value, first);
		await page.waitForFunction((comm) => document.querySelector(".parts button")?.textContent.startsWith(`${comm} `), JSON.parse(first)[0]);
		await shot(page, "live-parts");
		await page.selectOption("#timeline-as", "heat");
		await page.waitForFunction(() => document.querySelector(".parts").hidden);
		holds((await page.evaluate(() => location.hash)).includes("timeline=heat"), "in the address");
		await page.finish();
	});
	await test("live: names cannot be markup or script", async () => {
		const name = '<img src=x onerror="pwned()">', file = path.join(directory, name);
		fs.copyFileSync(path.join(programs, "nested"), file);
		fs.chmodSync(file, 0o755);
		run(name, file);
		const page = await open();
		await page.waitForFunction(() => stacktally.state.tree.frames.some((frame) => frame.module.includes("onerror")));
		const hostile = await place(page, "<img src=x oner");
		await page.mouse.click(hostile.x, hostile.y);
		for (const key of ["2", "3", "1", "ArrowUp", "w"]) await page.keyboard.press(key);
		await updates(page, 2);
		equal(await page.evaluate(() => document.querySelectorAll("img, iframe, object, embed, svg").length), 0, "elements");
		end(name);
		await page.finish();
	});
	await test("live: its policy blocks foreign requests", async () => {
		const context = await browser.newContext(), page = await context.newPage();
		await page.goto(url);
		const stopped = await page.evaluate(async () => {
			const broken = [];
			document.addEventListener("securitypolicyviolation", (event) => broken.push(event.violatedDirective));
			const script = document.createElement("script"), image = document.createElement("img");
			script.textContent = "window.ran = true";
			image.src = "http://127.0.0.1:9/x.png";
			image.setAttribute("onerror", "window.ran = true");
			document.body.append(script, image);
			await fetch("http://127.0.0.1:9/").catch(() => broken.push("fetch"));
			await new Promise((done) => setTimeout(done, 100));
			return [window.ran === undefined, broken.sort()];
		});
		equal(stopped, [true, ["connect-src", "fetch", "img-src", "script-src-attr", "script-src-elem"]], "violations");
		await context.close();
	});
	await test("live: on a phone, in the dark", async () => {
		const page = await open(url, { viewport: { width: 390, height: 760 }, colorScheme: "dark", hasTouch: true, isMobile: true });
		await appears(page, ours("nested"));
		await updates(page, 1);
		equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, "the width");
		await shot(page, "live-phone");
		await zoomInto(page, ours("nested"), (box) => page.touchscreen.tap(box.x, box.y));
		await page.finish();
	});
}

/* ---- 100,000 boxes ---- */

/* A server with the real page and its own events. */
async function largeTree(nodes) {
	const files = {}, clients = new Set(), self = (i) => 1 + (i * 7919) % 50;
	for (const name of ["", "live.js", "live.css"]) {
		const answer = await fetch(url + name);
		files["/" + name] = { headers: Object.fromEntries(answer.headers), body: Buffer.from(await answer.arrayBuffer()) };
	}
	const frames = [["app", "", 1, 0, 77, 0]], tree = [0, 0, 0, 0];
	for (let i = 0; i < 20000; i++) frames.push([`function_${i}(int, char const*)`, "app", 3, 0, 0, 0]);
	/* The parent of each node is one of the last few hundred; 60 deep at most. */
	const depth = [0, 1];
	for (let i = 2; i < nodes; i++) {
		let parent = Math.max(1, i - 1 - (i * 7919) % 400);
		if (depth[parent] > 60) parent = 1 + (i % 50);
		depth.push(depth[parent] + 1);
		tree.push(parent, 1 + (i * 31) % 20000);
	}
	const state = JSON.parse(await new Promise((done, failed) => {
		http.get(url + "events", { timeout: 60000 }, (answer) => {
			let text = "";
			answer.setEncoding("utf8");
			answer.on("data", (more) => {
				text += more;
				const found = /^data: (.*)\n\n/m.exec(text);
				if (!found) return;
				answer.destroy();
				done(found[1]);
			});
		}).on("timeout", () => failed(new Error("no state within a minute")));
	}));
	const totals = [];
	for (let i = 2; i < nodes; i++) totals.push(i, self(i));
	let tick = 10;
	const counts = () => {
		const list = [];
		for (let i = 0; i < 5000; i++) list.push(2 + (i * 37 + tick * 101) % (nodes - 2), 1);
		return list;
	};
	const server = http.createServer((request, response) => {
		const file = files[request.url];
		if (file) {
			response.writeHead(200, { "content-type": file.headers["content-type"], "content-security-policy": file.headers["content-security-policy"] });
			response.end(file.body);
			return;
		}
		response.writeHead(200, { "content-type": "text/event-stream" });
		response.write("event: state\ndata: " + JSON.stringify({ ...state, tick, shortened: 3, shared_from: 7000, frames, nodes: tree, totals,
			seconds: [[tick, tick * 1000, 1000, 5000, 0, counts()]], bins: [0, ...new Array(500).fill(3)] }) + "\n\n");
		clients.add(response);
		response.on("close", () => clients.delete(response));
	});
	const ticks = setInterval(() => {
		tick++;
		const text = "event: tick\ndata: " + JSON.stringify({ tick, at: tick * 1000, ms: 1000, samples: 5000, lost: 0, shortened: 4, shared_from: 7000,
			frames: [[`new_${tick}`, "app", 3, 0, 0, 0]], nodes: [1 + tick % 50, frames.length + tick - 11], counts: counts(),
			bins: [(tick - 1) * 50, ...new Array(50).fill(3)] }) + "\n\n";
		for (const client of clients) client.write(text);
	}, 1000);
	await new Promise((done) => server.listen(0, "127.0.0.1", done));
	return { address: `http://127.0.0.1:${server.address().port}/`, close: () => { clearInterval(ticks); server.closeAllConnections(); server.close(); } };
}

/* The CPU time of the page's main thread, in ms: other programs do not change it much. */
async function cpuClock(page) {
	const session = await page.context().newCDPSession(page);
	await session.send("Performance.enable", { timeDomain: "threadTicks" });
	return async () => (await session.send("Performance.getMetrics")).metrics.find((it) => it.name === "ThreadTime").value * 1000;
}

/* Runs the page's draw(number) in each of `n` frames: how many a second there were. */
const animate = (page, n) => page.evaluate((wanted) => new Promise((done) => {
	const began = performance.now();
	let frame = 0;
	const step = () => {
		if (frame === wanted) return done(wanted / (performance.now() - began) * 1000);
		window.draw(frame++);
		requestAnimationFrame(step);
	};
	requestAnimationFrame(step);
}), n);

/* CPU time of a frame, and the rate. */
async function costOfFrames(page, n) {
	const clock = await cpuClock(page), before = await clock(), rate = await animate(page, n);
	return { ms: (await clock() - before) / n, rate };
}

/* A page that does nothing but draw a few hundred boxes: what the browser can do on this machine, now. */
async function plainPage(width, height) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 820 } }), page = await context.newPage();
	await page.setContent(`<canvas width="${width}" height="${height}"></canvas>`);
	await page.evaluate(() => {
		const canvas = document.querySelector("canvas"), ink = canvas.getContext("2d");
		window.draw = (frame) => {
			ink.clearRect(0, 0, canvas.width, canvas.height);
			ink.font = "12px monospace";
			for (let i = 0; i < 200; i++) {
				ink.fillStyle = `hsl(${(i + frame) % 360} 80% 70%)`;
				ink.fillRect((i * 97) % canvas.width, (i * 19) % canvas.height, 90, 18);
				ink.fillStyle = "#111";
				ink.fillText(`function ${i}`, (i * 97) % canvas.width, (i * 19) % canvas.height + 14);
			}
		};
	});
	return page;
}

async function speedTests() {
	await test("live: 100,000 boxes take about the CPU time of a plain page", async () => {
		const large = await largeTree(100000), page = await open(large.address);
		await page.selectOption("#time", "all");
		await updates(page, 2);
		holds(/  ·  new processes since 0:07 are one box for each name: .*  ·  4 stacks are cut: /
			.test(await page.locator("#subtitle").textContent()), await page.locator("#subtitle").textContent());
		const [nodes, width, height] = await page.evaluate(() =>
			[stacktally.state.tree.n, stacktally.panels.graph.canvas.width, stacktally.panels.graph.canvas.height]);
		holds(nodes >= 100000, `${nodes} boxes`);
		const plain = await plainPage(width, height), clock = await cpuClock(page);
		const began = await clock();
		await updates(page, 5);
		const update = (await clock() - began) / 5;
		await page.keyboard.press(" ");
		await page.evaluate(() => {
			/* In and out again, a few times a second, and always something to draw. */
			window.draw = (frame) => {
				const graph = stacktally.panels.graph;
				if (frame % 15 === 0) graph.zoom(frame % 2 ? 1 + (frame * 13) % 40 : 0);
				graph.hover(frame % 25);
				graph.later();
			};
		});
		const frame = await costOfFrames(page, 150), least = await costOfFrames(plain, 150);
		console.log(`${nodes} boxes: ${frame.ms.toFixed(1)} ms of CPU time a frame, a plain page ${least.ms.toFixed(1)}; an update ${update.toFixed(0)}; ` +
			`${frame.rate.toFixed(0)} frames a second, a plain page ${least.rate.toFixed(0)}`);
		holds(frame.ms < 6 * least.ms, `a frame takes ${frame.ms} ms, that of a plain page ${least.ms}`);
		holds(update < 120 * least.ms, `an update takes ${update} ms, a frame of a plain page ${least.ms}`);
		await shot(page, "live-large");
		await plain.context().close();
		await page.finish();
		large.close();
	});
}

async function endTest() {
	await test("live: the page shows the end, and stays usable", async () => {
		const page = await open();
		process.kill(Number(pid), "SIGINT");
		await page.waitForFunction(() => stacktally.live.state === "ended");
		await appears(page, "burn");
		const middle = await place(page, "middle");
		await page.mouse.click(middle.x, middle.y);
		equal(await zoomedTo(page), ["middle", true], "zoomed to");
		await page.finish();
	});
}

async function launch() {
	browser = await chromium.launch({ executablePath, args: process.getuid() === 0 ? ["--no-sandbox"] : [] });
}

(async () => {
	await launch();
	start("nested");
	try {
		/* Files first, while all processes can be told apart on a busy machine as well. */
		for (const tests of [fileTests, movingTests, timeTests, speedTests, endTest]) await tests();
	} finally {
		for (const name of [...running.keys()]) end(name);
		await Promise.race([browser.close(), late(10000)]).catch(() => {});
	}
	process.exit(failed ? 1 : 0);
})();
