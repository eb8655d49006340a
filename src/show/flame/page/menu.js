/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The menu of a function, by a right click, a long touch or a key; and the buttons that take back what it did. */

/* The first line of a function's key is its name. */
const nameOfKey = (key) => key.slice(0, key.indexOf("\n"));

const edit = {
	focus: (key) => { state.edits.focus = key; },
	add: (list, value) => { if (!state.edits[list].includes(value)) state.edits[list].push(value); },
	remove: (list, value) => { state.edits[list] = state.edits[list].filter((it) => it !== value); }
};

/* Applies a change of the edits. */
function edited(change) {
	change();
	closeMenu();
	filter(true);
}

/* What can be done about a frame: [text, action]. */
function menuOf(frame) {
	const key = functionKey(frame), { edits } = state, items = [];
	if (key !== "") {
		items.push(["Focus: only stacks with this function", () => edit.focus(key)],
			["Ignore: no stacks with this function", () => edit.add("ignore", key)],
			["Hide this function", () => edit.add("hide", key)]);
		if (frame.module) items.push([`Hide all of ${fit(frame.module, 40)}`, () => edit.add("files", frame.module)]);
	}
	items.push([edits.collapse ? "Show recursion" : "Collapse recursion", () => { edits.collapse = !edits.collapse; }]);
	return items;
}

function openMenu(frame, x, y) {
	const menu = element("menu"), button = (text, act) => make("button", { role: "menuitem", onclick: act }, text);
	menu.replaceChildren(...menuOf(frame).map(([text, act]) => button(text, () => edited(act))));
	if (functionKey(frame) !== "")
		menu.append(button("Callers and callees", () => { closeMenu(); toSandwich(); }));
	menu.append(button("Copy name", () => { copyText(frame.name); closeMenu(); }));
	element("tip").hidden = true;
	menu.hidden = false;
	menu.style.left = Math.max(2, Math.min(x, innerWidth - menu.offsetWidth - 4)) + "px";
	menu.style.top = Math.max(2, Math.min(y, innerHeight - menu.offsetHeight - 4)) + "px";
	menu.firstChild.focus();
}

function closeMenu() {
	element("menu").hidden = true;
}

/* Pages in files have no clipboard of their own in all browsers: a selected field is copied. */
function copyText(text) {
	const field = make("textarea", { value: text, readOnly: true });
	field.style.position = "fixed";
	document.body.append(field);
	field.select();
	document.execCommand("copy");
	field.remove();
}

/* The menu of a row of the table. */
function openMenuOfRow(row, x, y) {
	const frame = functionsOf(state.tree).list[Number(row.dataset.number)];
	state.function = functionKey(frame);
	openMenu(frame, x, y);
}

/* The menu of the selected box, beside the button, or of the row that has the focus. */
function openMenuOfSelected() {
	const row = document.activeElement.closest("#hottest tbody tr[data-number]");
	if (row) openMenuOfRow(row, row.getBoundingClientRect().left + 60, row.getBoundingClientRect().bottom);
	const panel = openPanel(), box = element("more").getBoundingClientRect();
	if (panel.tree && state.tab !== "functions") openMenu(panel.tree.frames[panel.tree.frame[panel.selected]], box.left, box.top - 220);
}

/* A button for each edit, which takes it back. */
function listEdits() {
	const { edits } = state, chips = [];
	const chip = (text, title, undo) => chips.push(make("button", { className: "chip", title, onclick: () => edited(undo) }, `${text} \u2715`));
	if (edits.focus) chip(`focus: ${fit(nameOfKey(edits.focus), 30)}`, "Show all stacks again", () => edit.focus(""));
	for (const [list, word] of [["ignore", "ignore"], ["hide", "hide"]])
		for (const key of edits[list])
			chip(`${word}: ${fit(nameOfKey(key), 30)}`, "Take it back", () => edit.remove(list, key));
	for (const file of edits.files) chip(`hide file: ${fit(file, 30)}`, "Take it back", () => edit.remove("files", file));
	if (edits.collapse) chip("recursion collapsed", "Take it back", () => { edits.collapse = false; });
	element("edits").replaceChildren(...chips);
}

function listenForMenus() {
	for (const panel of Object.values(panels)) {
		panel.canvas.addEventListener("contextmenu", (event) => {
			const node = panel.nodeAt(event);
			if (node < 0) return;
			event.preventDefault();
			panel.select(node);
			openMenu(panel.tree.frames[panel.tree.frame[node]], event.clientX, event.clientY);
		});
	}
	element("functions").addEventListener("contextmenu", (event) => {
		const row = event.target.closest("#hottest tbody tr[data-number]");
		if (!row) return;
		event.preventDefault();
		openMenuOfRow(row, event.clientX, event.clientY);
	});
	document.addEventListener("pointerdown", (event) => {
		if (!element("menu").contains(event.target)) closeMenu();
	});
	element("more").addEventListener("click", openMenuOfSelected);
	element("csv").addEventListener("click", saveTable);
	element("menu").addEventListener("keydown", (event) => {
		const items = [...element("menu").children], by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
		if (event.key === "Escape") closeMenu();
		else if (by) items[(items.indexOf(document.activeElement) + by + items.length) % items.length].focus();
		else return;
		event.preventDefault();
		event.stopPropagation();
	});
}

/* ---- the table as a file ---- */

function saveTable() {
	const compare = state.tree.base !== null;
	/* Names are untrusted, and a spreadsheet would compute some: it shows what is behind a "'". */
	const quoted = (text) => `"${/^[=+@-]/.test(text) ? "'" : ""}${text.replaceAll('"', '""')}"`;
	const rows = table.list.map((it) => [it.self, it.total, ...compare ? [it.baseSelf, it.base] : [],
		quoted(it.frame.name), quoted(it.frame.module)].join(","));
	const { unit } = state.tree.head, of = unit === "samples" || unit === "events" ? "" : `-${unit}`;
	const numbers = ["self", "total", ...compare ? ["self-before", "total-before"] : []].map((it) => it + of);
	const head = [...numbers, "function", "file"].join(",");
	saveAs("functions.csv", "text/csv", [[head, ...rows, ""].join("\r\n")]);
}
