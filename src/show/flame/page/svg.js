/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the picture interactive: a click zooms, / searches, Escape goes back. Each box is a <g> with
 * its start and width in samples (data-x, data-w) and its number of samples (data-n); its <title> is
 * the name, a line break, and the numbers. A box of the class "rest" stands for boxes that are not in
 * this file. A band stands for boxes that are too narrow to draw. Without this script the picture is
 * the same, but static.
 */
(function () {
"use strict";
var NS = "http://www.w3.org/2000/svg", XHTML = "http://www.w3.org/1999/xhtml";
var MARGIN = 10, GLYPH = 7.23, ROW = 18, HEAD = 64, NARROWEST = 0.5;
var svg = document.documentElement;
var low = svg.viewBox.baseVal.height, width = svg.viewBox.baseVal.width;
/* Grows when zooming shows rows above those of the first picture. */
var height = low;
var foot = 0; /* below that: rows of the legend beyond its first one */
var title = byId("title").textContent, subtitle = byId("subtitle").textContent;
var zoomOut = 1; /* how much smaller the browser shows the picture than it lays it out */
var details = byId("details"), matched = byId("matched"), zoomed = null, input = null;
var boxes = Array.prototype.map.call(byId("frames").children, function (g) {
	var text = g.querySelector("title").textContent, cut = text.lastIndexOf("\n");
	var rect = g.querySelector("rect");
	return g.box = {
		g: g, rect: rect, text: g.querySelector("text"), children: [],
		rest: g.classList.contains("rest"), shown: !g.classList.contains("off"),
		name: text.slice(0, cut), info: text.slice(cut + 1),
		x: Number(g.dataset.x), w: Number(g.dataset.w), n: Number(g.dataset.n),
		y: Number(rect.getAttribute("y"))
	};
});
var all = boxes[0], bands = [];

/* The boxes are in preorder, but the rest of a box comes after its children. */
(function () {
	var path = [];
	boxes.forEach(function (box) {
		var depth = (all.y - box.y) / ROW;
		if (depth > 0) path[depth - 1].children.push(box);
		path[depth] = box;
	});
})();

function byId(id) { return document.getElementById(id); }

function count(n) { return n.toLocaleString("en-US"); }
/* With the unit; nanoseconds as src/base/duration.c has them. */
function quantity(n) {
	var unit = byId("bands").dataset.unit, sizes = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]], at = 0;
	if (unit !== "ns") return count(n) + " " + unit;
	while (at < 3 && n < sizes[at][0]) at++;
	n /= sizes[at][0];
	return n.toFixed(at === 3 || n >= 1000 ? 0 : n >= 100 ? 1 : n >= 10 ? 2 : 3) + " " + sizes[at][1];
}
function percent(part, whole) { return (whole ? 100 * part / whole : 0).toFixed(2) + " %"; }

function place(box, x, w) {
	if (!box.rect.hasAttribute("height")) {
		box.rect.setAttribute("height", 17);
		box.rect.setAttribute("rx", 2);
	}
	box.rect.setAttribute("x", x.toFixed(2));
	box.rect.setAttribute("width", Math.max(w - 0.6, 0.3).toFixed(2));
	var label = fit(box.name, Math.floor((w - 7) / GLYPH));
	if (label && !box.text) {
		box.text = document.createElementNS(NS, "text");
		box.text.setAttribute("y", box.y + 13);
		box.g.appendChild(box.text);
	}
	if (box.text) {
		box.text.setAttribute("x", (x + 3.5).toFixed(2));
		box.text.textContent = label;
	}
}

/* Draws a band in place of adjacent boxes that are too narrow. */
function addBand(run, to, scale) {
	var first = run[0], last = run[run.length - 1], x = first.x, w = last.x + last.w - x;
	if (w * scale < NARROWEST) return;
	var g = document.createElementNS(NS, "g"), rect = document.createElementNS(NS, "rect");
	var n = run.reduce(function (sum, box) { return sum + box.n; }, 0);
	g.box = {
		g: g, band: true, boxes: run, x: x, w: w, n: n, y: first.y,
		name: count(run.length) + (run.length === 1 ? " frame" : " frames") + " too narrow to draw",
		info: quantity(n) + ", " + percent(n, all.n) +
			": a click zooms in"
	};
	rect.setAttribute("x", (MARGIN + (x - to.x) * scale).toFixed(2));
	rect.setAttribute("y", first.y);
	rect.setAttribute("width", (w * scale).toFixed(2));
	rect.setAttribute("height", 17);
	g.appendChild(rect);
	byId("bands").appendChild(g);
	bands.push(g.box);
}

/* The bands above a box. None is wider than a quarter of the picture, so that each click zooms. */
function addBands(box, to, scale) {
	var run = [];
	function end() {
		if (run.length) addBand(run, to, scale);
		run = [];
	}
	box.children.forEach(function (child) {
		if (!child.inside || child.shown) {
			end();
			return;
		}
		if (run.length && (child.x + child.w - run[0].x) * scale > (width - 2 * MARGIN) / 4) end();
		run.push(child);
	});
	end();
}

function draw() {
	var to = zoomed || all, scale = (width - 2 * MARGIN) / to.w, slack = to.w * 1e-6, top = all.y;
	boxes.forEach(function (box) {
		var above = box.y > to.y && box.x <= to.x + slack && box.x + box.w >= to.x + to.w - slack;
		box.inside = box.y <= to.y && box.x >= to.x - slack && box.x + box.w <= to.x + to.w + slack;
		var show = above || (box.inside && (box.w * scale >= NARROWEST || box === all));
		if (show !== box.shown) box.g.classList.toggle("off", !show);
		box.shown = show;
		if (!show) return;
		top = Math.min(top, box.y);
		box.g.classList.toggle("above", above);
		if (above) place(box, MARGIN, width - 2 * MARGIN);
		else place(box, MARGIN + (box.x - to.x) * scale, box.w * scale);
	});
	bands = [];
	byId("bands").textContent = "";
	boxes.forEach(function (box) { if (box.shown) addBands(box, to, scale); });
	bands.forEach(function (band) { top = Math.min(top, band.y); });
	raise(Math.max(HEAD - top, 0));
	byId("reset").classList.toggle("off", !zoomed);
}

function setSize() {
	svg.setAttribute("viewBox", "0 0 " + width + " " + (height + foot));
	svg.setAttribute("width", width * zoomOut);
	svg.setAttribute("height", (height + foot) * zoomOut);
}

/* Makes room for rows above those of the first picture. */
function raise(more) {
	var before = height;
	height = low + more;
	if (height === before) return;
	["frames", "bands"].forEach(function (id) {
		byId(id).setAttribute("transform", "translate(0," + more + ")");
	});
	setSize();
	window.scrollBy(0, (height - before) * zoomOut);
	stick();
}

function zoom(box) {
	if (box.rest) return;
	zoomed = box === all ? null : box;
	draw();
	if (input) search(input.value);
}

function holdsMatch(box) { return box.match || box.children.some(holdsMatch); }

/* Shows the share of the zoomed part that is in matching boxes; nested ones count once. */
function search(pattern) {
	var found = [], end = -1, sum = 0, to = zoomed || all, test;
	try {
		test = pattern ? new RegExp(pattern, "i") : null;
	} catch (wrong) {
		if (input) input.classList.add("wrong");
		return;
	}
	if (input) input.classList.remove("wrong");
	boxes.forEach(function (box) {
		box.match = test !== null && !box.rest && test.test(box.name);
		box.g.classList.toggle("match", box.match);
		if (box.match && box.inside) found.push(box);
	});
	if (boxes.some(function (box) { return box.match && box.shown && !box.inside; })) found = [to];
	bands.forEach(function (band) {
		band.g.classList.toggle("match", test !== null && band.boxes.some(holdsMatch));
	});
	found.sort(function (a, b) { return a.x - b.x || b.w - a.w; });
	found.forEach(function (box) {
		if (box.x + box.w * 1e-6 < end) return;
		end = box.x + box.w;
		sum += box.n;
	});
	matched.textContent = test ? "matched: " + percent(sum, to.n) : "";
}

function openSearch() {
	if (!input) {
		var frame = document.createElementNS(NS, "foreignObject");
		input = document.createElementNS(XHTML, "input");
		input.setAttribute("type", "text");
		input.setAttribute("id", "pattern");
		input.setAttribute("placeholder", "search: a regular expression");
		input.addEventListener("input", function () { search(input.value); });
		frame.setAttribute("id", "search-field");
		frame.setAttribute("width", 240);
		frame.setAttribute("height", 26);
		frame.appendChild(input);
		byId("top").appendChild(frame);
		arrange();
	}
	input.focus();
	input.select();
}

function closeSearch() {
	if (!input) return;
	input.parentNode.remove();
	input = null;
	search("");
}

/* Moves the buttons on the right to the right edge. */
function arrange() {
	byId("search").setAttribute("transform", "translate(" + (width - 74) + ",10)");
	byId("reset").setAttribute("transform", "translate(" + (width - 168) + ",10)");
	matched.setAttribute("x", width - MARGIN);
	byId("title").textContent = fit(title, (width - 90) / 10);
	byId("subtitle").textContent = fit(subtitle, (width - 2 * MARGIN) / 6.5);
	var field = byId("search-field");
	if (field) {
		field.setAttribute("x", width - 250);
		field.setAttribute("y", 36);
	}
}

/* Breaks the legend into rows that are as wide as the window. */
function wrapLegend() {
	var parts = byId("legend").children, back = byId("bottom").querySelector(".back"), x = MARGIN, row = 0;
	for (var i = 0; i + 1 < parts.length; i += 2) {
		var length = parts[i + 1].getComputedTextLength();
		if (x > MARGIN && x + 17 + length > width - MARGIN) {
			x = MARGIN;
			row++;
		}
		parts[i].setAttribute("x", x);
		parts[i].setAttribute("y", low - 24 + row * ROW);
		parts[i + 1].setAttribute("x", x + 17);
		parts[i + 1].setAttribute("y", low - 14 + row * ROW);
		x += 17 + length + 22;
	}
	foot = row * ROW;
	back.setAttribute("height", low - Number(back.getAttribute("y")) + foot);
}

/* Keeps the header and the footer in sight if the graph is higher than the window. */
function stick() {
	var at = Math.max(window.scrollY, 0) / zoomOut, end = Math.min(at + window.innerHeight / zoomOut, height + foot);
	byId("top").setAttribute("transform", "translate(0," + at + ")");
	byId("bottom").setAttribute("transform", "translate(0," + (end - foot - low) + ")");
}

/*
 * Fits the width to the window without its scroll bar; heights and text sizes stay. Phones lay a picture out for a wide
 * window, which they then show smaller: there it is drawn larger by as much.
 */
function resize() {
	var view = window.visualViewport;
	width = Math.max(view ? view.width * view.scale : window.innerWidth, 320);
	zoomOut = window.innerWidth > 1.2 * width ? window.innerWidth / width : 1;
	wrapLegend();
	setSize();
	arrange();
	draw();
	stick();
}

function boxOf(event) {
	var g = event.target.closest ? event.target.closest("#frames > g, #bands > g") : null;
	return g ? g.box : null;
}

svg.addEventListener("click", function (event) {
	var box = boxOf(event);
	if (box) zoom(box);
	else if (event.target.closest("#reset")) zoom(all);
	else if (event.target.closest("#search")) openSearch();
});
svg.addEventListener("mouseover", function (event) {
	var box = boxOf(event);
	details.textContent = box ? fit(box.name, Math.max(20, width / 7 - box.info.length - 6)) +
		"  \u2014  " + box.info : "";
});
window.addEventListener("keydown", function (event) {
	if (event.key === "Escape") {
		if (input) closeSearch();
		else zoom(all);
	} else if ((event.key === "f" && (event.ctrlKey || event.metaKey)) ||
		   (event.key === "/" && event.target !== input)) {
		event.preventDefault();
		openSearch();
	}
});
window.addEventListener("resize", resize);
window.addEventListener("scroll", stick);
byId("search").classList.remove("off");
resize();
/* Stacks start at the bottom. */
window.scrollTo(0, (height + foot) * zoomOut);
stick();
})();
