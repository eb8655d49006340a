/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who had the CPUs, and when: for each second a bar, in which each process has its part. Where a sample
 * stands for no time, the bar has the number of samples in a second.
 */

const MOST_PARTS = 8, PART_HUES = [212, 28, 140, 340, 268, 52, 178, 8];

/* The colour of one of the named parts. */
function partColour(ink) {
	return hsl(PART_HUES[ink], 62, 58);
}
const COLOUR_OF_REST = "hsl(220 8% 62%)", COLOUR_OF_UNKNOWN = "hsl(220 8% 78%)";

/* The node of the process or thread that each node is below; 0: none. `known` are those of the first nodes. */
function whoNodes(parent, n, isWho, known) {
	const who = new Uint32Array(n);
	if (known) who.set(known);
	for (let i = Math.max(known ? known.length : 0, 1); i < n; i++) who[i] = isWho(i) ? i : who[parent[i]];
	return who;
}

/* How much of a time of `ms` a count is, and in which unit: CPUs, threads, or samples a second. */
function amountOf(count, ms, { sampleNs }) {
	return ms > 0 ? sampleNs ? count * sampleNs / 1e6 / ms : count * 1000 / ms : 0;
}
function amountUnit({ sampleNs, unit }) {
	return !sampleNs ? `${unit} a second` : unit === "ns" ? "threads" : "CPUs";
}
function amountText(amount, head) {
	return head.sampleNs && amount < 1000 ? amount.toFixed(2) : numberFormat.format(Math.round(amount));
}

class Parts {
	/*
	 * `model` has head, seconds, and partsOf(second, filter): a Map from a label to {count, comm, tgid}, or null
	 * if it is not known.
	 */
	constructor() {
		this.inks = new Map(); /* of labels: the number of their colour, as long as they are among the first */
	}
	/* The sums of seconds: {parts: Map of label to {count, comm, tgid}, ms, unknown}. */
	static sum(model, seconds, filter) {
		const parts = new Map();
		let ms = 0, unknown = 0;
		for (const second of seconds) {
			const found = model.partsOf(second, filter);
			ms += second.ms;
			if (!found) unknown += second.samples;
			else for (const [label, part] of found) {
				const sum = parts.get(label);
				if (sum) sum.count += part.count;
				else parts.set(label, { ...part });
			}
		}
		return { parts, ms, unknown };
	}
	/* Gives the labels with the largest counts their colours; those that had one keep it. Returns them, the largest first. */
	choose(parts) {
		const first = [...parts].sort((a, b) => b[1].count - a[1].count || (a[0] < b[0] ? -1 : 1))
			.slice(0, MOST_PARTS).map(([label]) => label);
		for (const label of this.inks.keys()) if (!first.includes(label)) this.inks.delete(label);
		const taken = new Set(this.inks.values());
		for (const label of first) {
			if (this.inks.has(label)) continue;
			let ink = 0;
			while (taken.has(ink)) ink++;
			taken.add(ink);
			this.inks.set(label, ink);
		}
		return first;
	}
	/* The bars within a time in ms: [{at, ms, amounts, rest, unknown}], each of at least `least` ms; `first` as choose() has it. */
	bars(model, start, end, least, filter) {
		const seconds = model.seconds.filter((it) => it.at > start && it.at - it.ms < end), groups = [];
		for (const second of seconds) {
			const last = groups[groups.length - 1], number = Math.floor((second.at - second.ms / 2) / least);
			if (last && last.number === number) last.seconds.push(second);
			else groups.push({ number, seconds: [second] });
		}
		const whole = Parts.sum(model, seconds, filter), first = this.choose(whole.parts);
		return { first, bars: groups.map((group) => {
			const { parts, ms, unknown } = Parts.sum(model, group.seconds, filter), { head } = model;
			const amounts = first.map((label) => amountOf(parts.get(label)?.count || 0, ms, head));
			let all = 0;
			for (const { count } of parts.values()) all += count;
			all = amountOf(all, ms, head);
			return { from: group.seconds[0].at - group.seconds[0].ms, to: group.seconds[group.seconds.length - 1].at,
				amounts, rest: Math.max(0, all - amounts.reduce((sum, it) => sum + it, 0)), all,
				unknown: amountOf(unknown, ms, head) };
		}) };
	}
	/* Draws them into a box of that height, from `top` on; xOf(ms) says where times are. */
	paint(context, { bars, first }, xOf, top, height) {
		const peak = Math.max(...bars.map(({ all, unknown }) => all + unknown), 0);
		this.scale = peak > 0 ? (height - 2) / peak : 0;
		for (const { from, to, amounts, rest, unknown } of bars) {
			const x = xOf(from), gap = xOf(to) - x > 5 ? 1 : 0, width = xOf(to) - x - gap;
			let y = top + height;
			const put = (amount, colour) => {
				const high = amount * this.scale;
				if (high <= 0) return;
				context.fillStyle = colour;
				context.fillRect(x, y -= high, width, high);
			};
			amounts.forEach((amount, i) => put(amount, partColour(this.inks.get(first[i]))));
			put(rest, COLOUR_OF_REST);
			put(unknown, COLOUR_OF_UNKNOWN);
		}
		return peak;
	}
	/* The parts of some seconds, for a legend: [{label, text, colour, comm, tgid}]. */
	legend(model, seconds, first, filter) {
		const { head } = model, { parts, ms, unknown } = Parts.sum(model, seconds, filter);
		const entries = first.filter((label) => parts.has(label)).map((label) => ({ ...parts.get(label), label,
			text: amountText(amountOf(parts.get(label).count, ms, head), head), colour: partColour(this.inks.get(label)) }));
		const rest = [...parts].filter(([label]) => !first.includes(label));
		const more = (label, count, colour) => count > 0 && entries.push({ label, colour, comm: null, tgid: null,
			text: amountText(amountOf(count, ms, head), head) });
		more(`${numberFormat.format(rest.length)} more`, rest.reduce((sum, [, { count }]) => sum + count, 0), COLOUR_OF_REST);
		more("not told apart: too long ago", unknown, COLOUR_OF_UNKNOWN);
		return entries;
	}
}

/*
 * The parts of a second with its counts by node ([node, count, ...]); `nodeOf` makes a node of such a number, `who` is
 * whoNodes(), and frameOf(node) a frame or null. Kept until the filter is another one.
 */
function partsOfSecond(second, filter, nodeOf, who, parent, frameOf) {
	const key = [filter.comm, filter.tgid, filter.tid, filter.split].join("\n");
	if (!second.counts) return null;
	if (second.partsKey === key) return second.parts;
	const sums = new Map(), parts = new Map();
	for (let i = 0; i < second.counts.length; i += 2) {
		const node = who[nodeOf(second.counts[i])];
		sums.set(node, (sums.get(node) || 0) + second.counts[i + 1]);
	}
	/* A choice of processes of one name is split by their numbers. */
	const split = filter.comm !== null && filter.split === "comm" ? "process" : filter.split === "none" ? "comm" : filter.split;
	for (const [node, count] of sums) {
		const frame = node > 0 ? frameOf(node) : null;
		if (!frame || !isWanted(frame, filter)) continue;
		const label = whoLabel(frame, frameOf(parent[node]), split), part = parts.get(label);
		if (part) {
			part.count += count;
			if (part.comm !== frame.name) part.comm = null;
			if (part.tgid !== frame.tgid) part.tgid = null;
		} else {
			parts.set(label, { count, comm: frame.name, tgid: split === "comm" ? null : frame.tgid });
		}
	}
	second.partsKey = key;
	return second.parts = parts;
}
