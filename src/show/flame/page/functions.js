/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of the hottest functions. Rows are made of text nodes: names are never markup. */

const ROWS_AT_ONCE = 300;

class FunctionTable {
	/* `wakers` has another table, of what ended the waits. */
	constructor(table, wakers, chosen) {
		this.table = table;
		this.wakers = wakers;
		this.chosen = chosen;
		this.body = table.querySelector("tbody");
		this.order = null; /* the usual one */
		this.shown = ROWS_AT_ONCE;
		this.pressed = false; /* a row that was replaced between press and release would take no click */
		this.body.addEventListener("pointerdown", () => { this.pressed = true; });
		for (const kind of ["pointerup", "pointercancel"])
			addEventListener(kind, () => this.pressed && setTimeout(() => {
				this.pressed = false;
				this.draw();
			}));
		table.querySelector("thead").addEventListener("click", (event) => {
			const button = event.target.closest("button");
			if (!button) return;
			this.order = button.dataset.order;
			this.shown = ROWS_AT_ONCE;
			this.draw();
		});
		this.body.addEventListener("click", (event) => {
			const row = event.target.closest("tr");
			if (!row) return;
			if (row.dataset.more) {
				this.shown += ROWS_AT_ONCE * 3;
				this.draw();
			} else {
				this.chosen(Number(row.dataset.number));
			}
		});
	}
	show(tree, test) {
		this.tree = tree;
		this.list = countFunctions(tree).filter((it) => test === null || test(it.frame.name));
		this.draw();
		this.drawWakers();
	}
	drawWakers() {
		const { tree, wakers } = this, found = hasWaits(tree) ? wakersOf(tree).slice(0, ROWS_AT_ONCE) : [];
		const whole = found.reduce((sum, it) => sum + it.total, 0);
		const first = found.slice(0, 3).map(({ name, total }) => `${name} ${percent(total, whole)}`);
		wakers.hidden = found.length === 0;
		wakers.querySelector("summary").textContent = `What ended these waits: ${first.join(", ")}${found.length > 3 ? ", \u2026" : ""}`;
		wakers.querySelector("tbody").replaceChildren(...found.map(({ name, frame, total }) => {
			const bar = make("td", { className: "number bar" }, percent(total, whole));
			bar.style.setProperty("--share", (whole > 0 ? 100 * total / whole : 0) + "%");
			return make("tr", {}, bar, make("td", { className: "number wide" }, bare(total, tree.head.unit)),
				make("td", { className: "name" }, name), make("td", { className: "name" }, frame ? frame.name : ""),
				make("td", { className: "module" }, frame ? frame.module : ""));
		}));
	}
	/* What changed most is on top of a comparison, also what vanished. */
	orderNow() {
		return this.order ?? (this.tree.base === null ? "self" : "change");
	}
	/* Sorts by a column; numbers descend. */
	compare(a, b, order) {
		const byChange = (before, now) => Math.abs(this.change(b, before, now)) - Math.abs(this.change(a, before, now));
		const bySelf = () => byChange("baseSelf", "self"), byTotal = () => byChange("base", "total");
		if (order === "name") return a.frame.name < b.frame.name ? -1 : 1;
		if (order === "module")
			return a.frame.module < b.frame.module ? -1 : a.frame.module > b.frame.module ? 1 : b.self - a.self;
		if (order === "change") return bySelf() || byTotal();
		if (order === "totalChange") return byTotal() || bySelf();
		return b[order] - a[order] || b.total - a.total || (a.frame.name < b.frame.name ? -1 : 1);
	}
	change(it, before, now) {
		return it[now] - it[before] * baseScale(this.tree);
	}
	draw() {
		if (this.pressed) return;
		const whole = this.tree.total[0], compare = this.tree.base !== null, order = this.orderNow();
		for (const button of this.table.querySelectorAll("thead button"))
			button.setAttribute("aria-pressed", String(button.dataset.order === order));
		for (const cell of this.table.querySelectorAll(".change")) cell.hidden = !compare;
		this.list.sort((a, b) => this.compare(a, b, order));
		const rows = this.list.slice(0, this.shown).map((it) => this.row(it, whole, compare));
		if (this.list.length > this.shown) {
			const row = document.createElement("tr"), cell = document.createElement("td");
			row.dataset.more = "1";
			cell.colSpan = 10;
			cell.textContent = `${numberFormat.format(this.list.length - this.shown)} more \u2026`;
			row.append(cell);
			rows.push(row);
		}
		const focused = this.body.contains(document.activeElement) ? document.activeElement.dataset.number : "";
		this.body.replaceChildren(...rows);
		if (focused) rows.find((row) => row.dataset.number === focused)?.focus({ preventScroll: true });
	}
	row(it, whole, compare) {
		const row = document.createElement("tr");
		const cell = (text, name) => {
			const made = document.createElement("td");
			made.textContent = text;
			made.className = name;
			row.append(made);
			return made;
		};
		row.dataset.number = it.number;
		row.tabIndex = 0;
		const unit = this.tree.head.unit;
		const all = whole || (compare ? this.tree.base[0] * baseScale(this.tree) : 0);
		/* The share of a count, the count, and in a comparison those before and the change. */
		const part = (before, now, which) => {
			const bar = cell(percent(it[now], whole), "number bar");
			/* A policy without inline styles lets scripts set them. */
			bar.style.setProperty("--share", (whole > 0 ? 100 * it[now] / whole : 0) + "%");
			if (compare)
				cell(bare(Math.round(it[before] * baseScale(this.tree)), unit), "number wide before");
			cell(bare(it[now], unit), "number wide");
			if (!compare) return;
			const change = this.change(it, before, now);
			cell((change < 0 ? "\u2212" : "+") + percent(Math.abs(change), all),
				`number change ${which} ` + (change > 0 ? "more" : change < 0 ? "less" : ""));
		};
		part("baseSelf", "self", "");
		part("base", "total", "roomy");
		cell(it.frame.name, "name");
		cell(it.frame.module, "module");
		return row;
	}
}
