/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The colours of flame/flame_colour.c: by kind and name of a frame, by module, and in comparisons red
 * for more and blue for less. */

/* hue and its range, saturation, lightness and its range */
const PALETTES = [
	[215, 0, 16, 80, 0], [205, 20, 24, 74, 8], [8, 14, 82, 66, 10], [38, 14, 90, 62, 10],
	[66, 16, 58, 60, 10], [128, 20, 42, 62, 10], [178, 14, 44, 64, 10], [220, 0, 6, 72, 8],
	[40, 12, 34, 74, 10], [226, 0, 32, 62, 0], [318, 0, 58, 70, 0], [220, 0, 6, 72, 8],
	...LANGUAGES.map(([, palette]) => palette)
];
const KIND_NAMES = ["", "", "kernel", "user", "C++, Rust, D", "JIT", "inlined", "unknown", "no symbol",
	"blocked", "waiting for a CPU", "program", ...LANGUAGES.map(([title]) => title)];
const encoder = new TextEncoder();

function hashName(name) {
	let hash = 2166136261;
	for (const byte of encoder.encode(name)) hash = Math.imul(hash ^ byte, 16777619);
	return (hash ^ hash >>> 15) >>> 0;
}

function hsl(hue, saturation, light) {
	return `hsl(${hue.toFixed(1)} ${saturation.toFixed(1)}% ${light.toFixed(1)}%)`;
}

function kindColour(frame) {
	const [hue, hueBy, saturation, light, lightBy] = PALETTES[frame.kind] || PALETTES[7];
	const hash = hashName(frame.name);
	return hsl(hue + hueBy * (hash & 255) / 255, saturation, light + lightBy * (hash >>> 8 & 255) / 255);
}

/* Modules get distant hues; names get shades of them. */
function moduleColour(frame) {
	if (frame.kind <= KIND.WHO || !frame.module) return kindColour(frame);
	const hash = hashName(frame.module), name = hashName(frame.name);
	return hsl(hash % 360, 40 + (hash >>> 9) % 35, 66 + (name & 255) / 255 * 9);
}

function changeColour(now, before) {
	const more = now - before, most = Math.max(now, before);
	if (most <= 0) return "hsl(0 0% 94%)";
	const surprise = Math.min(more * more / (now + before) / 9, 1);
	const strength = Math.abs(more) / most * surprise;
	return hsl(more > 0 ? 4 : 214, 85 * Math.min(strength * 5, 1), 94 - 36 * strength);
}
