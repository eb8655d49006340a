/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the page is in its address, behind #, so that it can be linked to, and Back works.
 * Boxes are told by hashes of the functions that lead to them.
 */

/* What other scripts add: {name, get(), set(text)}; "" is what a new page has. */
const addressParts = [];

function hashOf(text) {
	let hash = 0x811c9dc5;
	for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
	return hash.toString(36);
}

/* `all`: with what other scripts add. */
function addressOf(all = true) {
	const { filter, edits } = state, words = new URLSearchParams();
	const put = (name, text) => { if (text) words.append(name, text); };
	put("tab", state.tab === "graph" ? "" : state.tab);
	put("function", state.tab === "sandwich" ? state.function : "");
	put("process", filter.comm === null ? "" : JSON.stringify([filter.comm, filter.tgid]));
	put("thread", filter.tid === null ? "" : String(filter.tid));
	put("side", filter.side === "all" ? "" : filter.side);
	put("split", filter.split === "comm" ? "" : filter.split);
	put("colour", element("colour").value === usualColour() ? "" : element("colour").value);
	put("sleepers", element("sleepers").value === usualSleepers() ? "" : element("sleepers").value);
	put("icicle", panels.graph.flame ? "" : "1");
	put("focus", edits.focus);
	for (const list of ["ignore", "hide", "files"]) for (const it of edits[list]) put(list, it);
	put("collapse", edits.collapse ? "1" : "");
	put("search", element("search").value);
	put("zoom", panels.graph.zoomPath.map(hashOf).join("."));
	if (all) for (const { name, get } of addressParts) put(name, get());
	/* A saved page opens with a state; without one, it is the page's usual one. */
	return words.toString() || (opensWith() ? "usual=1" : "");
}

/* Notes a change, as a step that Back goes to, or in place of the last one. */
function noteAddress(step) {
	const text = addressOf();
	if (!state.tree || state.restoring || text === location.hash.slice(1)) return;
	history[step ? "pushState" : "replaceState"](null, "", text ? "#" + text : location.pathname + location.search);
}

/* Of a whole machine, threads that sleep all the time would be nearly all of the picture. */
function usualSleepers() {
	return state.data && state.data.head.ofAll ? "box" : "all";
}

function usualColour() {
	return state.data && state.data.head.compare ? "change" : "kind";
}

/* The node whose path has these hashes, or the last one on it that is there. */
function nodeOfHashes(tree, hashes) {
	let at = 0;
	for (const hash of hashes) {
		let next = -1;
		for (let c = at + 1; c < tree.end[at] && next < 0; c = tree.end[c])
			if (hashOf(frameKey(tree.frames[tree.frame[c]])) === hash) next = c;
		if (next < 0) break;
		at = next;
	}
	return at;
}

/* ["comm", number or null], or nobody. */
function whoOf(text) {
	try {
		const [comm, tgid] = JSON.parse(text);
		if (typeof comm === "string" && (tgid === null || typeof tgid === "number")) return { comm, tgid };
	} catch (wrong) { /* an address that was typed */ }
	return { comm: null, tgid: null };
}

function selectOption(id, wanted, usual) {
	const select = element(id), found = [...select.options].some((it) => it.value === wanted && !it.disabled);
	return select.value = found ? wanted : usual;
}

function restoreAddress() {
	const words = new URLSearchParams(location.hash.slice(1) || opensWith()), { filter: by } = state;
	const get = (name) => words.get(name) || "";
	state.restoring = true;
	Object.assign(by, whoOf(get("process")), { tid: Number(get("thread")) || null });
	by.side = selectOption("side", get("side"), "all");
	by.split = selectOption("split", get("split"), "comm");
	selectOption("colour", get("colour"), usualColour());
	selectOption("sleepers", get("sleepers"), usualSleepers());
	state.edits = { focus: get("focus"), ignore: words.getAll("ignore"), hide: words.getAll("hide"),
		files: words.getAll("files"), collapse: get("collapse") !== "" };
	state.function = get("function") || state.function;
	element("search").value = get("search");
	if (panels.graph.flame !== (get("icicle") === "")) setDirection(get("icicle") === "");
	for (const part of addressParts) part.set(get(part.name));
	listProcesses();
	for (const panel of Object.values(panels)) panel.selected = 0;
	openTab(["functions", "sandwich"].includes(get("tab")) ? get("tab") : "graph");
	filter(true);
	if (state.tab === "graph" || panels.graph.tree) zoomToHashes(get("zoom"));
	state.restoring = false;
}

function zoomToHashes(text) {
	const panel = panels.graph;
	if (!panel.tree || panel.tree !== state.tree) panel.show(state.tree, colouring(), false);
	panel.zoom(nodeOfHashes(panel.tree, text ? text.split(".") : []));
	panel.select(panel.zoomed);
	search();
}

function listenForAddress() {
	/* A search is one step, not one for each key: Back takes all of it back. */
	const isStep = (event) => event.target !== element("search") || !/(^#|&)search=/.test(location.hash);
	for (const kind of ["click", "change", "keydown", "input"])
		document.addEventListener(kind, (event) => setTimeout(() => noteAddress(isStep(event))));
	addEventListener("popstate", () => { if (state.data) restoreAddress(); });
}
