/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the live page that a report's page does not have: choosing, comparing and saving
 * ranges of time, pausing, and the event stream.
 */

const live = {
	model: null,
	choice: { last: 10 }, /* {last: seconds}, {} (since the start) or {from, to}: seconds by number */
	then: null, /* {from, to, counts} that is compared with; or null */
	paused: false,
	toldThen: "", /* the comparison that the dialog tells of */
	turn: 0, /* of refresh(): only the last one shows its answer */
	shown: null, /* {from, to} that the graph shows */
	updates: 0,
	state: "waiting", /* open, lost, ended */
	times: {}
};
const LASTS = [[1, "last second"], [5, "last 5 s"], [10, "last 10 s"], [30, "last 30 s"], [60, "last minute"],
	[300, "last 5 minutes"]];

const PAUSE = "\u275a\u275a Pause", COMPARE = "Compare with this";

/* ---- the page's elements ---- */

function build() {
	const time = make("select", { id: "time" },
		...LASTS.map(([seconds, text]) => option(String(seconds), text)),
		option("all", "since the start"), make("option", { value: "picked", hidden: true, disabled: true }));
	time.value = "10";
	document.querySelector(".controls").after(
		make("div", { id: "live-controls", className: "controls" },
			make("button", { id: "pause", title: "Pause or resume (Space)", onclick: pause }, PAUSE),
			make("label", {}, "Time ", time),
			make("button", { id: "compare", title: "Compare what follows with what is shown now (t)", onclick: compare },
				COMPARE),
			make("button", { id: "save-button", title: "Save what is shown in a format (w)", onclick: openSave }, "Save \u2026"),
			make("span", { className: "hint" },
				"Drag to show a range of time, with Shift to compare with it. The wheel zooms the timeline.")),
		make("section", { id: "timeline", tabIndex: 0, ariaLabel: "Activity over time: arrows pick a second" }));
	document.body.append(make("dialog", { id: "save" },
		make("h2", {}, "Save"), make("p", { id: "save-seen" }), make("p", { id: "save-what" }), make("ul", { id: "save-list" }),
		make("p", { id: "save-then" }),
		make("p", { id: "save-pull" }),
		make("form", { method: "dialog" }, make("button", {}, "Close"))));
	element("about").querySelectorAll("dl")[1].prepend(...[["Space", "pause, resume"],
		["t", "start or end a comparison with what is shown now"], ["w", "save"],
		["Tab, arrows", "on the timeline: pick a second, with Shift several"]]
		.flatMap(([key, text]) => [make("dt", {}, key), make("dd", {}, text)]));
	time.addEventListener("change", () => {
		if (time.value !== "picked") choose(time.value === "all" ? {} : { last: Number(time.value) });
	});
	element("save-view").hidden = true; /* the dialog has it */
	element("timeline").addEventListener("keydown", step);
	Object.assign(keys, { " ": pause, t: compare, w: openSave });
}

const timeline = (() => {
	build();
	const made = new Timeline(element("timeline"), (start, end, compareWith) => {
		if (!live.model.seconds.length) return;
		const [from, to] = live.model.ticksIn(start, end);
		if (compareWith) setThen(from, to);
		else choose({ from, to });
	}, { least: 60, most: MOST_SECONDS });
	element("save-button").after(made.choice());
	return made;
})();

/* ---- the range of time ---- */

/* The number of the first of the seconds of this time. A second takes longer where the machine is busy. */
function firstOfLast(model, seconds) {
	let from = model.tick;
	while (from > model.oldest && model.now - model.second(from - 1).at + model.second(from - 1).ms <= seconds * 1000 + 500) from--;
	return from;
}

function range() {
	const { model, choice } = live;
	if (choice.last) return { from: firstOfLast(model, choice.last), to: model.tick };
	if (choice.from) return { from: Math.max(choice.from, model.oldest), to: Math.max(choice.to, model.oldest) };
	return { from: 0, to: model.tick };
}

function choose(choice) {
	const time = element("time"), picked = time.querySelector("[value=picked]");
	live.choice = choice;
	picked.hidden = picked.disabled = !choice.from;
	if (choice.from) {
		const [start, end] = live.model.span(choice.from, choice.to);
		picked.textContent = `${clock(start)} to ${clock(end)}`;
	}
	time.value = choice.from ? "picked" : choice.last ? String(choice.last) : "all";
	refresh();
}

/* Arrow keys move the range that is picked; the first press picks the newest second. */
function step(event) {
	const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key], { model, choice } = live;
	if (!by || !model.seconds.length) return;
	event.preventDefault();
	event.stopPropagation();
	if (!choice.from) return choose({ from: model.tick, to: model.tick });
	const inside = (tick) => Math.max(model.oldest, Math.min(tick, model.tick));
	const to = inside(choice.to + by);
	choose({ from: event.shiftKey ? Math.min(choice.from, to) : to - (choice.to - choice.from) < model.oldest
		? choice.from : inside(choice.from + by), to });
}

/* The counts of these seconds, from the model or from the server. */
async function countsOf({ from, to }) {
	const { model } = live;
	if (from === 0) return model.allCounts();
	if (model.hasCounts(from, to)) return model.countsOf(from, to);
	const answer = await fetch(`counts?from=${from}&to=${to}`);
	if (!answer.ok) throw new Error(answer.statusText);
	return model.spread((await answer.json()).counts);
}

/* ---- showing ---- */

function timesOf(model, from, to) {
	return timesText(model.startTime, model.span(from, to));
}

/* Shows the chosen range with what is known now. */
async function refresh() {
	const { model } = live, start = performance.now(), shown = range();
	if (!model || document.hidden) return;
	const turn = ++live.turn;
	try {
		const counts = await countsOf(shown);
		if (turn !== live.turn || model !== live.model) return;
		live.shown = shown;
		stacktally.show(dataOf(counts));
		live.updates++;
		live.times = { update: performance.now() - start, nodes: state.tree.n };
	} catch (error) {
		if (turn === live.turn) report("lost", error.message);
	}
	tell();
}

function dataOf(counts) {
	const { model, then } = live;
	const { from, to } = live.shown, [start, end] = from > 0 ? model.span(from, to) : [0, model.now];
	const head = { ...model.head, compare: then !== null, subtitle: subtitle(), spanMs: end - start };
	const kept = (panel) => panel.tree && panel.tree.view === model.view
		? [panel.tree.node[panel.zoomed], panel.tree.node[panel.selected]] : [];
	return {
		head, frames: model.frames.list, counts,
		filtered: (filter) => model.filtered(filter, counts, then ? then.counts : null, head, kept(panels.graph)),
		who: () => model.who(counts),
		whole: () => model.whole(head, counts, then ? then.counts : null)
	};
}

function subtitle() {
	const { model, then } = live, { measurement } = model;
	const text = ({ from, to }) => from === 0 ? "since the start" : timesOf(model, from, to);
	return [measurement.host, measurement.kernel && `Linux ${measurement.kernel}`,
		live.shown && (then ? `${text(live.shown)} compared with ${text(then)}` : text(live.shown)), ...limitsOf(model)]
		.filter(Boolean).join("  \u00b7  ");
}

/* What the graph does not tell apart, as too much was seen. */
function limitsOf({ sharedFrom, shortened }) {
	const told = [];
	if (sharedFrom) told.push(`new processes since ${clock(sharedFrom)} are one box for each name: there are too many to tell apart`);
	if (shortened) told.push(`${numberFormat.format(shortened)} stacks are cut: there are too many boxes`);
	return told;
}

/* Updates all but the graph: the status line, the timeline, the links in the dialog. */
function tell() {
	const { model } = live;
	if (!model) return;
	const words = { open: live.paused ? "paused" : "live", lost: "connection lost", ended: "ended", waiting: "waiting" }[live.state];
	element("live").dataset.state = live.paused && live.state === "open" ? "paused" : live.state;
	element("live").replaceChildren(make("b", {}, words), ` ${clock(model.now)}`, make("span", { className: "more-numbers" },
		`  ${quantity(model.samples, model.head.unit)}, ${numberFormat.format(model.lost)} lost`));
	const { shown, then } = live;
	const band = (it) => it && it.from > 0 ? model.span(it.from, it.to) : null;
	element("timeline").hidden = !model.binMs;
	timeline.show(model, { now: band(shown), then: band(then) });
	if (element("save").open) listFormats();
}

function report(what, why) {
	live.state = what;
	element("live").title = why || "";
	tell();
}

function pause() {
	live.paused = !live.paused;
	element("pause").textContent = live.paused ? "\u25b6 Resume" : PAUSE;
	element("pause").setAttribute("aria-pressed", String(live.paused));
	/* What was asked for before is not shown any more. */
	if (live.paused) live.turn++;
	if (live.paused) tell();
	else refresh();
}

/* ---- comparing ---- */

async function setThen(from, to) {
	live.then = { from, to, counts: await countsOf({ from, to }) };
	/* A range is not compared with itself. */
	if (live.choice.from === from && live.choice.to === to) return choose({ last: Math.max(10, to - from + 1) });
	element("compare").textContent = "End comparison";
	refresh();
}

async function compare() {
	if (!live.model || !live.shown) return;
	if (live.then) {
		live.then = null;
		element("compare").textContent = COMPARE;
		refresh();
		return;
	}
	const { from, to } = live.shown;
	element("compare").textContent = "End comparison";
	await setThen(from, to);
}

/* ---- saving ---- */

/* The page has both sides of a comparison. As numbers it is made of two recordings, which --diff compares again. */
function listThen() {
	const { model, then } = live, name = `${model.measurement.command}-before.stacktally`;
	if (!then) return [];
	return [`For --diff, save ${timesOf(model, then.from, then.to)} as a `,
		make("a", { href: `save?format=recording&from=${then.from}&to=${then.to}`, download: name }, "recording"),
		", and what it is compared with from above: ", make("code", {}, `${model.measurement.command} --from LATER.stacktally --diff ${name}`),
		" shows the comparison."];
}

/* Elements that stay: what is replaced between press and release takes no click. */
function buildFormats() {
	const { model } = live;
	element("save-seen").append(make("button", { onclick: saveView }, "Save what is seen"), make("span", {}));
	element("save-list").append(...model.formats.map(([name, extension, description]) =>
		make("li", {}, make("a", { download: model.measurement.command + (extension || ".txt") }, name), ` ${description}`)));
	element("save-pull").append("Or pull it from here: ",
		make("code", {}, `go tool pprof ${new URL("debug/pprof/profile?seconds=10", location.href)}`));
}

function listFormats() {
	const { model, shown, then } = live, range = shown.from > 0 ? `&from=${shown.from}&to=${shown.to}` : "";
	const times = shown.from > 0 ? timesOf(model, shown.from, shown.to) : "everything since the start";
	if (!element("save-list").childElementCount) buildFormats();
	element("save-seen").querySelector("span").textContent = ` as a page in one file: ${times}` +
		`${then ? `, compared with ${timesOf(model, then.from, then.to)}` : ""}, which opens as this page is now.`;
	element("save-what").textContent = `Or save ${times}, all processes and functions, ${then ? "without the comparison, " : ""}as`;
	for (const link of element("save-list").querySelectorAll("a")) link.href = `save?format=${link.textContent}${range}`;
	const told = then ? `${then.from}-${then.to}` : "";
	if (told === live.toldThen) return;
	live.toldThen = told;
	element("save-then").replaceChildren(...listThen());
}

function openSave() {
	if (!live.shown) return;
	listFormats();
	element("save").showModal();
}

/* ---- the event stream ---- */

function connect() {
	const source = new EventSource("events");
	source.addEventListener("state", (event) => {
		const first = live.model === null;
		live.model = new Model(JSON.parse(event.data));
		live.state = "open";
		for (const id of ["time", "pause", "compare"]) element(id).disabled = !live.model.binMs;
		if (first && !live.model.binMs) choose({});
		else if (!live.paused) refresh();
		tell();
	});
	source.addEventListener("tick", (event) => {
		if (!live.model || !live.model.take(JSON.parse(event.data))) {
			source.close();
			connect();
			return;
		}
		live.state = "open";
		if (live.paused || live.choice.from) tell();
		else refresh();
	});
	source.addEventListener("end", () => {
		source.close();
		report("ended", "The measurement is over. Its data stays until this page is closed.");
	});
	source.addEventListener("error", () => {
		if (source.readyState === EventSource.CLOSED) setTimeout(connect, 1000);
		report("lost", "Connecting again.");
	});
}

document.addEventListener("visibilitychange", () => {
	if (live.model && !live.paused) refresh();
});

/* "60" (the last seconds), "all" or "12-20": what is shown, in the page's address. */
addressParts.push({
	name: "time",
	get: () => {
		const { last, from, to } = live.choice;
		return last === 10 ? "" : last ? String(last) : from ? `${from}-${to}` : "all";
	},
	set: (text) => {
		const picked = /^(\d+)-(\d+)$/.exec(text), last = LASTS.some(([seconds]) => String(seconds) === text);
		if (picked) choose({ from: Number(picked[1]), to: Number(picked[2]) });
		else choose(text === "all" ? {} : { last: last ? Number(text) : 10 });
	}
});
Object.assign(stacktally, { live, timeline });
connect();
