/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The label of a box: the name, or a shorter form of it, by the rules of flame/flame_label.c, which
 * tests/browser/labels.tsv shows. Pages and pictures have this file.
 */

/* The bracket that closes the one at `at`, or -1. The > of -> closes none. */
function closingBracket(name, at, open, close) {
	for (let depth = 0; at < name.length; at++) {
		if (name[at] === open) depth++;
		else if (name[at] === close && !(close === ">" && name[at - 1] === "-") && --depth === 0) return at;
	}
	return -1;
}

/* Removes the groups that follow a word. */
function dropGroups(name, open, close) {
	let out = "", operatorEnd = 0;
	for (let at = 0; at < name.length;) {
		const rest = name.slice(at);
		const operator = out.endsWith("operator") ? rest.match(/^(\(\)|[<>=!+\-*\/%^&|~,[\]]+)/) : null;
		const follows = out !== "" && (/[\w>\u0080-\uffff]$/.test(out) || out.length === operatorEnd);
		let keep = 1;
		if (operator) {
			keep = operator[0].length;
			operatorEnd = out.length + keep;
		} else if (follows && name[at] === open) {
			const end = closingBracket(name, at, open, close);
			if (end >= 0) {
				at = end + 1;
				continue;
			}
		} else if (follows && name[at] === "<") {
			const end = closingBracket(name, at, "<", ">");
			if (end >= 0) keep = end + 1 - at;
		}
		out += name.slice(at, at + keep);
		at += keep;
	}
	return out;
}

function dropNamespaces(name) {
	let last = -1, before = -1, slash = -1, depth = 0;
	for (let at = 0; at < name.length; at++) {
		if ("(<{[".includes(name[at])) depth++;
		else if (")>}]".includes(name[at]) && depth > 0) depth--;
		else if (depth === 0 && name.startsWith("::", at)) {
			before = last;
			last = ++at + 1;
		} else if (depth === 0 && name[at] === "/") slash = at + 1;
	}
	let start = last >= 0 && /^[{<]/.test(name.slice(last)) ? before : last;
	if (last < 0 && slash >= 0 && name.includes(".", slash)) start = slash;
	return start >= 0 && start < name.length ? name.slice(start) : name;
}

const SHORTER = [
	(name) => dropGroups(name, "(", ")").replace(/ const$/, ""),
	(name) => dropGroups(name, "<", ">"),
	dropNamespaces
];

/* Columns in a box; wide characters take two. */
function columnsOf(name) {
	let columns = name.length;
	if (/[\u1100-\uffff]/.test(name)) {
		columns = 0;
		for (const character of name) columns += character.codePointAt(0) >= 0x1100 ? 2 : 1;
	}
	return columns;
}

/* The name in a number of columns: the longest form that fits, or the shortest, cut. */
function fit(name, room) {
	if (room < 3) return "";
	for (let step = 0; columnsOf(name) > room && step < SHORTER.length && name[0] !== "["; step++)
		name = SHORTER[step](name);
	if (columnsOf(name) <= room) return name;
	let used = 0, out = "", fits = "";
	for (const character of name) {
		used += character.codePointAt(0) >= 0x1100 ? 2 : 1;
		if (used > room) break;
		out += character;
		if (used < room) fits = out;
	}
	return fits + "\u2026";
}
