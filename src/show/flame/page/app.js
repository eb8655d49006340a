/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The application: data, filters, search, tabs, keys. */

const element = (id) => document.getElementById(id);
const state = {
	data: null, /* as loaded */
	tree: null, /* filtered data */
	tab: "graph", test: null, function: "",
	filter: { comm: null, tgid: null, tid: null, side: "all", split: "comm" },
	edits: noEdits()
};
const timings = {};
const whenFiltered = []; /* functions that are called when filters have changed what is shown */
const panels = {};
for (const [id, flame] of [["graph", true], ["callers", true], ["callees", false]])
	panels[id] = new Panel(element(id), {
		flame,
		told: (node) => describe(panels[id], node),
		pointed: (what, pointer) => {
			describe(panels[id], what < 0 ? panels[id].selected : what);
			showTip(panels[id], what, pointer);
		},
		laidOut: () => legend()
	});
const table = new FunctionTable(element("hottest"), element("wakers"), (number) => {
	state.function = functionKey(functionsOf(state.tree).list[number]);
	openTab("sandwich");
});

/* ---- data ---- */

function load(block, keep) {
	const start = performance.now(), data = decodeBlock(block);
	timings.decode = performance.now() - start;
	if (data.times) showTimes(data);
	take(data, keep);
	timings.shown = performance.now() - start;
}

function showTimes(data) {
	if (!stacktally.times) {
		stacktally.times = new TimesPanel((shown) => take(shown, true));
		keys.t = () => stacktally.times.compare.disabled || stacktally.times.compareWith();
		element("about").querySelectorAll("dl")[1].append(
			...[["t", "start or end a comparison with the range that is shown"],
				["Tab, arrows", "on the timeline: pick a second, with Shift several"]]
				.flatMap(([key, text]) => [make("dt", {}, key), make("dd", {}, text)]));
	}
	stacktally.times.open(new Times(data));
}

/*
 * `data` is a tree as decodeBlock() makes it, or another object with head, frames, who() as below,
 * filtered(), which filters as filterTree() does, and whole(), the tree without a filter.
 */
function take(data, keep) {
	const { head } = data, compared = state.data !== null && state.data.head.compare;
	state.data = data;
	document.title = head.title;
	element("title").textContent = head.title;
	element("subtitle").textContent = head.subtitle;
	element("facts").replaceChildren(...head.facts.flatMap(([name, text]) => {
		const dt = document.createElement("dt"), dd = document.createElement("dd");
		dt.textContent = name;
		dd.textContent = text;
		return [dt, dd];
	}));
	if (head.leftOut) {
		const dt = document.createElement("dt"), dd = document.createElement("dd");
		dt.textContent = "left out";
		dd.textContent = `${numberFormat.format(head.leftOut)} boxes of fewer than ` +
			`${quantity(head.minimum, head.unit)}; they count in what they are part of`;
		element("facts").append(dt, dd);
	}
	const change = element("colour").querySelector("[value=change]");
	change.hidden = change.disabled = !head.compare;
	const byState = element("colour").querySelector("[value=state]");
	byState.hidden = byState.disabled = !hasWaits(data);
	if (!keep || compared !== head.compare) element("colour").value = head.compare ? "change" : "kind";
	element("sleepers").parentNode.hidden = !data.frames.some(isAsleep);
	if (!keep) {
		element("sleepers").value = usualSleepers();
		Object.assign(state.filter, { comm: null, tgid: null, tid: null });
		closeSearch();
	}
	const program = element("side").querySelector("[value=program]");
	program.hidden = program.disabled = !data.frames.some(isScript);
	/* An open list is not changed. */
	if (document.activeElement !== element("process") && document.activeElement !== element("thread")) listProcesses();
	filter(keep);
	if (!state.restored && (location.hash.length > 1 || opensWith())) restoreAddress();
	state.restored = true;
}

/* ---- filters ---- */

function option(value, text) {
	const made = document.createElement("option");
	made.value = value;
	made.textContent = text;
	return made;
}

/* The samples of each process or thread: [frame, total]. */
function who(tree) {
	return tops(tree).map((node) => [tree.frames[tree.frame[node]], tree.total[node]]);
}

/* Whether cgroups are shown: only their frames have a module. */
function hasGroups(data) {
	return data.frames.some((frame) => frame.kind === KIND.WHO && frame.module);
}

/* Lists commands by samples, each with its processes if it has several. */
function listProcesses() {
	const { data, filter } = state, comms = new Map(), threads = new Map();
	let several = false, whole = 0;
	for (const [frame, total] of data.who ? data.who() : who(data)) {
		whole += total;
		const comm = comms.get(frame.name) || { total: 0, tgids: new Map() };
		comms.set(frame.name, comm);
		comm.total += total;
		comm.tgids.set(frame.tgid, (comm.tgids.get(frame.tgid) || 0) + total);
		if (frame.tid && (filter.comm === null || filter.comm === frame.name) &&
		    (filter.tgid === null || filter.tgid === frame.tgid))
			threads.set(frame.tid, `${frame.name} ${frame.tid}`);
		several = several || frame.tid !== 0;
	}
	const share = (total) => percent(total, whole);
	const list = [option("", "all processes")];
	for (const [name, comm] of [...comms].sort((a, b) => b[1].total - a[1].total).slice(0, 400)) {
		list.push(option(JSON.stringify([name, null]), `${name}  (${share(comm.total)})`));
		if (comm.tgids.size < 2) continue;
		for (const [tgid, total] of [...comm.tgids].sort((a, b) => b[1] - a[1]).slice(0, 50))
			list.push(option(JSON.stringify([name, tgid]), `\u00a0\u00a0\u00a0${name} ${tgid}  (${share(total)})`));
	}
	element("process").replaceChildren(...list);
	element("process").value = filter.comm === null ? "" : JSON.stringify([filter.comm, filter.tgid]);
	if (element("process").selectedIndex < 0) {
		/* The process has ended: its filter stays, although it matches nothing. */
		element("process").append(option(JSON.stringify([filter.comm, filter.tgid]), filter.comm));
		element("process").value = JSON.stringify([filter.comm, filter.tgid]);
	}
	element("process").parentNode.hidden = comms.size === 0;
	element("thread-label").hidden = !several;
	element("thread").replaceChildren(option("", "all threads"),
		...[...threads].slice(0, 1000).map(([tid, text]) => option(String(tid), text)));
	element("thread").value = filter.tid === null ? "" : String(filter.tid);
	element("split").parentNode.hidden = comms.size === 0;
	element("split").querySelector("[value=thread]").hidden = !several;
	for (const split of ["service", "pod"])
		element("split").querySelector(`[value=${split}]`).hidden = !hasGroups(data);
}

function isPlain(filter) {
	return filter.comm === null && filter.side === "all" && !hasEdits(state.edits);
}

/* What the filters leave; of the program alone, kernel functions are left out as well. */
function filtered() {
	const program = state.filter.side === "program", by = { ...state.filter, side: program ? "user" : state.filter.side };
	const tree = state.data.filtered ? state.data.filtered(by) : filterTree(state.data, by);
	const sleepers = state.data.frames.some(isAsleep) ? element("sleepers").value : "all";
	return program || sleepers !== "all" || hasEdits(state.edits) ? editTree(tree, state.edits, program, sleepers) : tree;
}

function filter(keep) {
	state.tree = filtered();
	listEdits();
	element("message").hidden = state.tree.total[0] > 0 || (state.tree.base !== null && state.tree.base[0] > 0);
	element("message").textContent = isPlain(state.filter) ? "No samples yet." : "No samples are left by the filters.";
	state.kinds = new Set();
	for (let i = 0; i < state.tree.n; i++) state.kinds.add(state.tree.frames[state.tree.frame[i]].kind);
	state.stale = { graph: true, functions: true, sandwich: true };
	show(keep);
	for (const told of whenFiltered) told();
	if (!keep || !element("details").childElementCount || state.tab === "functions") return;
	const panel = Object.values(panels).find((it) => it.hovered >= 0) || openPanel();
	describe(panel, panel.hovered >= 0 ? panel.hovered : panel.selected);
}

/* Updates the open tab; others are updated when they are opened. */
function show(keep) {
	const { tree, tab, stale } = state;
	if (!tree) return;
	if (stale[tab]) {
		stale[tab] = false;
		if (tab === "graph") panels.graph.show(tree, colouring(), keep);
		else if (tab === "functions") table.show(tree, state.test);
		else showSandwich(keep);
	}
	search();
	legend();
}

/* The key of the function with the most samples of its own; "" if there is none. */
function hottest(tree) {
	const found = countFunctions(tree).filter((it) => it.self > 0)
		.reduce((most, it) => !most || it.self > most.self ? it : most, null);
	return found ? functionKey(found.frame) : "";
}

function showSandwich(keep) {
	if (!state.function) state.function = hottest(state.tree);
	const number = functionsOf(state.tree).numbers.get(state.function) || 0;
	const frame = functionsOf(state.tree).list[number];
	panels.callers.element.hidden = panels.callees.element.hidden = number === 0;
	if (number === 0) {
		element("sandwich-of").textContent = state.function
			? "This function is not among what is shown."
			: "No function is shown.";
		return;
	}
	const callers = callersOf(state.tree, number), callees = calleesOf(state.tree, number);
	element("sandwich-of").textContent = `${frame.name} \u2014 ${percent(callees.total[0], state.tree.total[0])}, ` +
		quantity(callees.total[0], state.tree.head.unit);
	panels.callers.show(callers, colouring(), keep);
	panels.callees.show(callees, colouring(), keep);
}

/* ---- colours ---- */

function colouring() {
	const by = element("colour").value;
	if (by === "module") return moduleColour;
	if (by === "state" && showsStates()) return byStates;
	if (by !== "change" || !state.tree.base) return kindColour;
	const scale = baseScale(state.tree);
	const colourOf = (tree, node) => changeColour(tree.total[node], tree.base[node] * scale);
	colourOf.perNode = true;
	return colourOf;
}

/* Without kernel stacks, what is shown does not say who waited. */
function showsStates() {
	return state.kinds.has(KIND.BLOCKED) || state.kinds.has(KIND.WAITING);
}

const byStates = (tree, node) => tree.inverted ? kindColour(tree.frames[tree.frame[node]]) : mostStateColour(tree, node);
byStates.perNode = true;

function legend() {
	const by = element("colour").value, entries = [];
	if (!state.tree) return;
	if (by === "change") {
		entries.push(["more", changeColour(1e6, 0)], ["the same", changeColour(1, 1)], ["less", changeColour(0, 1e6)]);
	} else if (by === "state" && showsStates()) {
		STATES.forEach(([text], at) => entries.push([text, stateColour(at, 1)]));
	} else if (by !== "module") {
		for (let kind = KIND.KERNEL; kind < KIND_NAMES.length; kind++)
			if (state.kinds.has(kind)) entries.push([KIND_NAMES[kind], kindColour({ kind, name: "u" })]);
	}
	if (state.tab !== "functions" && Object.values(panels).some((panel) => panel.element.offsetParent && panel.hasRuns()))
		entries.push(["too narrow: click to zoom", "var(--run)"]);
	element("legend").replaceChildren(...entries.map(([text, colour]) => {
		const span = document.createElement("span"), box = document.createElement("i");
		box.style.setProperty("--colour", colour);
		span.append(box, text);
		return span;
	}));
}

function recolour() {
	if (!state.tree) return;
	for (const panel of Object.values(panels)) if (panel.tree) panel.setColours(colouring());
	legend();
}

/* ---- details ---- */

function openPanel() {
	return state.tab === "sandwich" ? (document.activeElement === element("callers") ? panels.callers : panels.callees) : panels.graph;
}

/* "0.29 CPUs", in a list; nothing if that is not known. */
function cpusText(count, head) {
	if (!head.sampleNs || !head.spanMs) return [];
	const amount = amountOf(count, head.spanMs, head);
	return [`${amount < 0.1 ? amount.toPrecision(1) : amount.toFixed(2)} ${amountUnit(head)}`];
}

/* The description of a box: its name and a list of facts. */
function factsOf(panel, node) {
	const { tree } = panel, frame = tree.frames[tree.frame[node]], whole = state.tree.total[0];
	const parts = [[quantity(tree.total[node], tree.head.unit), percent(tree.total[node], whole),
		...cpusText(tree.total[node], tree.head)].join(", ")];
	if (tree.self[node]) parts.push(`self ${percent(tree.self[node], whole)}`);
	if (panel.zoomed > 0 && node > panel.zoomed)
		parts.push(`${percent(tree.total[node], tree.total[panel.zoomed])} of the zoomed`);
	if (tree.base) {
		const more = tree.total[node] - tree.base[node] * baseScale(tree);
		parts.push(`before: ${bare(tree.base[node], tree.head.unit)}, ${percent(tree.base[node], state.tree.base[0])}; ` +
			(more < 0 ? "\u2212" : "+") + (tree.head.shares ? percent(Math.abs(more), whole).replace("%", "points")
				: bare(Math.abs(more), tree.head.unit)));
	}
	if (showsStates() && !tree.inverted && !isWait(frame)) parts.push(statesOf(tree, node)
		.map((part, at) => part > 0 ? `${STATES[at][0]} ${percent(part, tree.total[node])}` : "").filter(Boolean).join(", "));
	if (frame.module && frame.kind !== KIND.MARKER) parts.push(frame.module);
	if (KIND_NAMES[frame.kind]) parts.push(KIND_NAMES[frame.kind]);
	return { name: frame.name, parts };
}

function factsOfRun(panel, what) {
	const { n, total } = panel.runOf(what), { unit } = panel.tree.head;
	return { name: `${numberFormat.format(n)} ${n === 1 ? "box" : "boxes"} too narrow to draw`,
		parts: [`${quantity(total, unit)}, ${percent(total, state.tree.total[0])}`, "a click zooms in"] };
}

function putFacts(into, { name, parts }) {
	const heading = document.createElement("b"), numbers = document.createElement("span");
	heading.textContent = name;
	numbers.textContent = parts.join("  \u00b7  ");
	into.replaceChildren(heading, numbers);
}

/* Shows the description beside the pointer. */
function showTip(panel, what, pointer) {
	const tip = element("tip"), gap = 14;
	/* A finger would cover the tip. */
	tip.hidden = !panel.tree || what === NOTHING || !pointer || matchMedia("(hover: none)").matches;
	if (tip.hidden) return;
	putFacts(tip, what < 0 ? factsOfRun(panel, what) : factsOf(panel, what));
	const { offsetWidth: width, offsetHeight: height } = tip;
	const x = pointer.clientX + gap + width < innerWidth ? pointer.clientX + gap : pointer.clientX - gap - width;
	const y = pointer.clientY + gap + height < innerHeight ? pointer.clientY + gap : pointer.clientY - gap - height;
	tip.style.left = Math.max(x, 2) + "px";
	tip.style.top = Math.max(y, 2) + "px";
}

function describe(panel, node) {
	if (!panel.tree || node < 0) return;
	putFacts(element("details"), factsOf(panel, node));
	element("to-sandwich").hidden = functionKey(panel.tree.frames[panel.tree.frame[panel.selected]]) === "";
	element("reset").disabled = Object.values(panels).every((it) => it.zoomed === 0 && !it.range);
}

/* ---- search ---- */

function search() {
	const field = element("search"), pattern = field.value;
	field.classList.remove("wrong");
	state.test = null;
	if (pattern) {
		try {
			const expression = new RegExp(pattern, "i");
			state.test = (name) => expression.test(name);
		} catch (wrong) {
			field.classList.add("wrong");
			element("matched").textContent = "not a regular expression";
			return;
		}
	}
	const panel = panels[state.tab === "sandwich" ? "callees" : "graph"];
	for (const it of state.tab === "sandwich" ? [panels.callers, panels.callees] : [panels.graph])
		if (it.tree) it.setMatches(state.test ? matchesOf(it.tree) : null);
	if (state.tab === "functions") table.show(state.tree, state.test);
	element("matched").textContent = !state.test ? ""
		: `${percent(matchedTotal(panel), panel.tree ? panel.tree.total[panel.zoomed] : 0)} matched`;
}

/* Frames are only added, so only new ones are searched. */
function matchesOf(tree) {
	const pattern = element("search").value, { frames } = tree, before = state.matches;
	const known = before && before.pattern === pattern && before.frames === frames ? before.found.length : 0;
	const found = new Uint8Array(frames.length);
	if (known) found.set(before.found);
	for (let i = Math.max(known, 1); i < frames.length; i++) if (state.test(frames[i].name)) found[i] = 1;
	state.matches = { pattern, frames, found };
	return found;
}

/* The share of the zoomed part in matching boxes; nested ones count once. */
function matchedTotal({ tree, zoomed, matches }) {
	let sum = 0;
	if (!tree || !matches) return 0;
	for (let at = zoomed; at > 0; at = tree.parent[at]) if (matches[tree.frame[at]]) return tree.total[zoomed];
	for (let i = zoomed; i < tree.end[zoomed];) {
		const is = matches[tree.frame[i]] === 1;
		if (is) sum += tree.total[i];
		i = is ? tree.end[i] : i + 1;
	}
	return sum;
}

function closeSearch() {
	element("search").value = "";
	element("search").blur();
}

/* Selects the next drawn box that matches, or with -1 the one before. */
function nextMatch(step) {
	const panel = openPanel(), { tree, matches } = panel;
	if (!tree || !matches) return;
	for (let i = 1; i < tree.n; i++) {
		const node = (panel.selected + step * i + tree.n * 2) % tree.n;
		if (!matches[tree.frame[node]]) continue;
		if (node < panel.zoomed || node >= tree.end[panel.zoomed]) panel.zoom(0);
		panel.select(node);
		panel.reveal(node);
		return;
	}
}

/* ---- tabs, buttons, keys ---- */

function openTab(tab) {
	if (tab === "sandwich" && state.tab === "graph") pickFunction(panels.graph);
	state.tab = tab;
	if (tab === "sandwich") state.stale.sandwich = true;
	for (const name of ["graph", "functions", "sandwich"]) {
		element(name).hidden = name !== tab;
		element("tab-" + name).setAttribute("aria-selected", String(name === tab));
	}
	element("direction").hidden = tab !== "graph";
	show(true);
	element("more").hidden = tab === "functions";
	if (tab !== "functions") describe(openPanel(), openPanel().selected);
}

/* Selecting a function in a graph also selects it in callers and callees. */
function pickFunction(panel) {
	if (!panel.tree) return;
	const key = functionKey(panel.tree.frames[panel.tree.frame[panel.selected]]);
	if (key) state.function = key;
}

function toSandwich() {
	if (state.tab === "sandwich") {
		pickFunction(openPanel());
		state.stale.sandwich = true;
		show(false);
	} else {
		openTab("sandwich");
	}
}

function resetZoom() {
	for (const panel of Object.values(panels)) {
		if (!panel.tree) continue;
		panel.zoom(0);
		panel.selected = 0;
	}
	describe(openPanel(), 0);
	search();
}

function setDirection(flame) {
	panels.graph.setFlame(flame);
	element("direction").textContent = flame ? "\u21c5 Icicle" : "\u21c5 Flame";
}

function setTheme(dark) {
	document.documentElement.dataset.theme = dark ? "dark" : "light";
	for (const panel of Object.values(panels)) panel.later();
}

function cycle(select) {
	do select.selectedIndex = (select.selectedIndex + 1) % select.options.length;
	while (select.options[select.selectedIndex].disabled);
	select.dispatchEvent(new Event("change"));
}

const keys = {
	"/": () => element("search").focus(), "?": () => element("about").showModal(),
	1: () => openTab("graph"), 2: () => openTab("functions"), 3: () => openTab("sandwich"),
	s: toSandwich, i: () => setDirection(!panels.graph.flame), c: () => cycle(element("colour")),
	d: () => setTheme(document.documentElement.dataset.theme !== "dark"),
	w: saveView, n: () => nextMatch(1), N: () => nextMatch(-1), m: openMenuOfSelected,
	Enter: () => { openPanel().zoom(openPanel().selected); describe(openPanel(), openPanel().selected); search(); },
	ArrowLeft: () => openPanel().move("left"), ArrowRight: () => openPanel().move("right"),
	ArrowUp: () => openPanel().move(openPanel().flame ? "in" : "out"),
	ArrowDown: () => openPanel().move(openPanel().flame ? "out" : "in")
};
Object.assign(keys, { h: keys.ArrowLeft, l: keys.ArrowRight, k: keys.ArrowUp, j: keys.ArrowDown });

function pressed(event) {
	const typing = event.target.closest("input"), control = event.target.closest("select, button, tbody tr");
	if (!state.tree || element("about").open || !element("menu").hidden) return;
	if (event.key === "Escape") {
		const searching = element("search").value !== "" || typing;
		closeSearch();
		if (searching) show(true);
		else resetZoom();
	} else if (typing && event.key === "Enter") {
		typing.blur();
		nextMatch(1);
	} else if (event.key.toLowerCase() === "f" && (event.ctrlKey || event.metaKey)) {
		element("search").focus();
	} else if (event.key === "Enter" && event.target.closest("tbody tr")) {
		event.target.click();
	} else if (!typing && !event.ctrlKey && !event.metaKey && !event.altKey && keys[event.key] &&
		   !(control && /^(Enter|Arrow)/.test(event.key)) &&
		   !(state.tab === "functions" && /^(Arrow|[hjkl]$|Enter)/.test(event.key))) {
		keys[event.key]();
	} else {
		return;
	}
	event.preventDefault();
}

function listen() {
	const changed = (id, change) => element(id).addEventListener("change", () => {
		change(element(id).value);
		filter(true);
	});
	changed("process", (value) => {
		const [comm, tgid] = value ? JSON.parse(value) : [null, null];
		Object.assign(state.filter, { comm, tgid, tid: null });
		listProcesses();
	});
	changed("thread", (value) => { state.filter.tid = value ? Number(value) : null; });
	changed("side", (value) => { state.filter.side = value; });
	changed("sleepers", () => {});
	changed("split", (value) => { state.filter.split = value; });
	element("colour").addEventListener("change", recolour);
	element("search").addEventListener("input", () => state.tree && search());
	element("direction").addEventListener("click", keys.i);
	element("reset").addEventListener("click", resetZoom);
	element("theme").addEventListener("click", keys.d);
	element("save-view").addEventListener("click", keys.w);
	element("about-button").addEventListener("click", keys["?"]);
	element("to-sandwich").addEventListener("click", toSandwich);
	document.querySelector(".tabs").addEventListener("click", (event) => {
		const button = event.target.closest("button");
		if (button && state.tree) openTab(button.dataset.tab);
	});
	document.addEventListener("keydown", pressed);
	/* The matched share refers to the zoomed part. */
	for (const panel of Object.values(panels)) panel.canvas.addEventListener("click", () => search());
	listenForMenus();
	listenForAddress();
}

const dark = matchMedia("(prefers-color-scheme: dark)");
setTheme(dark.matches);
dark.addEventListener("change", () => setTheme(dark.matches));
listen();

const stacktally = {
	load: (block) => load(block, false),
	update: (block) => load(block, state.data !== null),
	show: (data) => take(data, state.data !== null),
	state, panels, timings
};

(async () => {
	try {
		const block = await blockOfPage();
		if (block) stacktally.load(block);
		requestAnimationFrame(() => { timings.painted = performance.now(); });
	} catch (error) {
		element("message").hidden = false;
		element("message").textContent = `This page cannot show its data: ${error.message}`;
	}
})();
