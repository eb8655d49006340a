/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What makes the picture answer: a click zooms, / searches, Escape goes back. Each box is a <g>
 * that says where it starts and how wide it is in samples (data-x, data-w) and how many samples it
 * stands for (data-n); its <title> is the name, a line break, and the numbers. Without this script
 * the picture is the same, and still.
 */
(function () {
"use strict";
var NS = "http://www.w3.org/2000/svg", XHTML = "http://www.w3.org/1999/xhtml";
var MARGIN = 10, GLYPH = 7.23, ROW = 18;
var svg = document.documentElement;
var height = svg.viewBox.baseVal.height, width = svg.viewBox.baseVal.width;
var details = byId("details"), matched = byId("matched"), zoomed = null, input = null;
var boxes = Array.prototype.map.call(byId("frames").children, function (g) {
	var text = g.querySelector("title").textContent, cut = text.lastIndexOf("\n");
	var rect = g.querySelector("rect");
	return {
		g: g, rect: rect, text: g.querySelector("text"), shown: true,
		name: text.slice(0, cut), info: text.slice(cut + 1),
		x: Number(g.dataset.x), w: Number(g.dataset.w), n: Number(g.dataset.n),
		y: Number(rect.getAttribute("y"))
	};
});
var all = boxes[0];

function byId(id) { return document.getElementById(id); }

/* As much of the name as fits; wide characters take two places. */
function fit(name, room) {
	var used = 0, fits = "", out = "";
	if (room < 3) return "";
	for (var c of name) {
		used += c.codePointAt(0) >= 0x1100 ? 2 : 1;
		if (used > room) return fits + "\u2026";
		out += c;
		if (used + 1 <= room) fits = out;
	}
	return out;
}

function place(box, x, w) {
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

function draw() {
	var to = zoomed || all, scale = (width - 2 * MARGIN) / to.w, slack = to.w * 1e-6;
	boxes.forEach(function (box) {
		var above = box.y > to.y && box.x <= to.x + slack && box.x + box.w >= to.x + to.w - slack;
		var inside = box.y <= to.y && box.x >= to.x - slack && box.x + box.w <= to.x + to.w + slack;
		var show = above || (inside && box.w * scale >= 0.3);
		box.g.classList.toggle("off", !show);
		box.g.classList.toggle("above", above);
		if (above) place(box, MARGIN, width - 2 * MARGIN);
		else if (show) place(box, MARGIN + (box.x - to.x) * scale, box.w * scale);
	});
	byId("reset").classList.toggle("off", !zoomed);
}

function zoom(box) {
	zoomed = box === all ? null : box;
	draw();
	if (input) search(input.value);
}

/* Of what is shown, the part that lies in a matching box; one in another counts once. */
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
		var is = test !== null && test.test(box.name);
		box.g.classList.toggle("match", is);
		if (is && !box.g.classList.contains("off") && !box.g.classList.contains("above"))
			found.push(box);
	});
	if (test && boxes.some(function (box) {
		return box.g.classList.contains("above") && box.g.classList.contains("match");
	})) found = [to];
	found.sort(function (a, b) { return a.x - b.x || b.w - a.w; });
	found.forEach(function (box) {
		if (box.x + box.w * 1e-6 < end) return;
		end = box.x + box.w;
		sum += box.n;
	});
	matched.textContent = test ? "matched: " + (to.n ? 100 * sum / to.n : 0).toFixed(2) + " %" : "";
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

/* Puts what stands on the right to the right edge. */
function arrange() {
	byId("search").setAttribute("transform", "translate(" + (width - 74) + ",10)");
	byId("reset").setAttribute("transform", "translate(" + (width - 168) + ",10)");
	matched.setAttribute("x", width - MARGIN);
	var field = byId("search-field");
	if (field) {
		field.setAttribute("x", width - 250);
		field.setAttribute("y", 36);
	}
}

/* Of a graph higher than the window, what is above and below the boxes stays in sight. */
function stick() {
	var at = Math.max(window.scrollY, 0), end = Math.min(at + window.innerHeight, height);
	byId("top").setAttribute("transform", "translate(0," + at + ")");
	byId("bottom").setAttribute("transform", "translate(0," + (end - height) + ")");
}

/* As wide as the window without its scroll bar: boxes keep their height and text its size. */
function resize() {
	var view = window.visualViewport;
	width = Math.max(view ? view.width * view.scale : window.innerWidth, 320);
	svg.setAttribute("viewBox", "0 0 " + width + " " + height);
	svg.setAttribute("width", width);
	arrange();
	draw();
	stick();
}

function boxOf(event) {
	var g = event.target.closest ? event.target.closest("#frames > g") : null;
	return g ? boxes.find(function (box) { return box.g === g; }) : null;
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
window.scrollTo(0, height);
stick();
})();
