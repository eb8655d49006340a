/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that ran, were blocked or waited for a CPU: a wait is a box [blocked] or [waiting for a CPU]
 * on top of the thread's own functions, and what ended it is on top of that box. By the rules of
 * view/entry_parts.h.
 */

function isWait(frame) {
	return frame.kind === KIND.BLOCKED || frame.kind === KIND.WAITING;
}

/* The leaf of waits that began before the measurement did (tally/scripts.h). */
const ASLEEP = "[blocked since before the start]";

function isAsleep(frame) {
	return frame.kind === KIND.BLOCKED && frame.name === ASLEEP;
}

function hasWaits(tree) {
	return tree.frames.some(isWait);
}

/*
 * Of each node the parts of its samples that are waits: {blocked, waiting}. What ended a wait is
 * counted like it. Cached in the tree.
 */
function waitsOf(tree) {
	if (tree.waits) return tree.waits;
	const blocked = new Float64Array(tree.n), waiting = new Float64Array(tree.n);
	const { parent, end, total } = tree;
	for (let i = 1; i < tree.n;) {
		const frame = tree.frames[tree.frame[i]];
		if (!isWait(frame)) {
			i++;
			continue;
		}
		const of = frame.kind === KIND.BLOCKED ? blocked : waiting;
		for (let above = parent[i]; ; above = parent[above]) {
			of[above] += total[i];
			if (above === 0) break;
		}
		for (const last = end[i]; i < last; i++) of[i] = total[i];
	}
	return tree.waits = { blocked, waiting };
}

/* The parts of a node: running, blocked, waiting for a CPU. */
function statesOf(tree, node) {
	const { blocked, waiting } = waitsOf(tree), total = tree.total[node];
	return [Math.max(0, total - blocked[node] - waiting[node]), blocked[node], waiting[node]];
}

const STATES = [["running", [38, 90]], ["blocked", [226, 46]], ["waiting for a CPU", [318, 58]]];

/* The colour of a state; paler, the smaller its part is. */
function stateColour(state, part) {
	const [hue, saturation] = STATES[state][1];
	return hsl(hue, saturation, 60 + 34 * (1 - part));
}

/* That of what most of the node's samples are. */
function mostStateColour(tree, node) {
	const parts = statesOf(tree, node), most = Math.max(...parts), sum = parts[0] + parts[1] + parts[2];
	return stateColour(parts.indexOf(most), sum > 0 ? most / sum : 0);
}

/* The innermost function of the program on a path of nodes, outermost first, to which a wait is given; 0: none. */
function programNode(tree, path, depth) {
	for (const kernel of [false, true]) {
		let best = 0, interest = -1;
		for (let at = depth; at > 0; at--) {
			const frame = tree.frames[tree.frame[path[at]]];
			if (frame.kind === KIND.WHO) break;
			if (frame.kernel === kernel && frame.interest > interest) [best, interest] = [path[at], frame.interest];
		}
		if (interest > 0) return best;
	}
	return 0;
}

/* What ended waits: [{name, frame, total}], the largest first. `frame` is its function of the program, or null. */
function wakersOf(tree) {
	const found = new Map(), path = [0];
	for (let i = 1; i < tree.n; i++) {
		path[tree.depth[i]] = i;
		if (!(tree.self[i] > 0)) continue;
		let mark = tree.depth[i], frame = null;
		while (mark > 0 && !isWait(tree.frames[tree.frame[path[mark]]])) mark--;
		/* Above the wait are "woken by", functions from the innermost on, and the thread's name or an interrupt. */
		if (mark === 0 || tree.depth[i] < mark + 2) continue;
		for (let at = mark + 2; at < tree.depth[i]; at++) {
			const it = tree.frames[tree.frame[path[at]]];
			if (it.interest > (frame ? frame.interest : OF_RUNTIME)) frame = it;
		}
		const { name } = tree.frames[tree.frame[i]], key = frame ? `${name}\n${functionKey(frame)}` : name;
		if (!found.has(key)) found.set(key, { name, frame, total: 0 });
		found.get(key).total += tree.self[i];
	}
	return [...found.values()].sort((a, b) => b.total - a.total);
}
