// SPDX-License-Identifier: GPL-2.0-or-later
#include "tui/colours.h"

/* The middle of each hue, and by how much shades may differ from it in each component. */
static const struct language_terminal hues[FLAME_N_PLAIN] = {
	[FLAME_ROOT] = { 150, 150, 158, 0, 0xe5e5e5 },
	[FLAME_WHO] = { 168, 168, 178, 14, 0xe5e5e5 },
	[FLAME_KERNEL] = { 236, 138, 72, 18, 0xff0000 },
	[FLAME_USER] = { 226, 186, 78, 20, 0xffff00 },
	[FLAME_CPP] = { 196, 200, 84, 20, 0xcdcd00 },
	[FLAME_JIT] = { 112, 190, 112, 20, 0x00ff00 },
	[FLAME_INLINED] = { 104, 188, 200, 18, 0x00ffff },
	[FLAME_MARKER] = { 150, 140, 170, 8, 0xff00ff },
	[FLAME_IDENTITY] = { 206, 194, 160, 14, 0xffff00 },
	[FLAME_BLOCKED] = { 128, 142, 190, 0, 0x0000ee },
	[FLAME_WAITING] = { 224, 134, 196, 0, 0xff00ff },
};

static uint32_t shade(uint32_t middle, int change)
{
	int value = (int)middle + change;

	return (uint32_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

struct screen_style colours_of(const struct flame_frame *frame, enum screen_colours level)
{
	struct screen_style style = { 0x101010, 0, 0 };
	const struct language_terminal *hue =
		frame->kind < FLAME_N_PLAIN
			? &hues[frame->kind]
			: &language_look(flame_kind_language(frame->kind))->terminal;
	int spread = hue->spread, change;

	switch (level) {
	case SCREEN_COLOURS_NONE:
		return SCREEN_PLAIN;
	case SCREEN_COLOURS_16:
		style.background = hue->plain;
		return style;
	default:
		change = spread ? (int)(frame->hash % (uint32_t)(2 * spread + 1)) - spread : 0;
		style.background = shade(hue->red, change) << 16 | shade(hue->green, change) << 8 |
				   shade(hue->blue, change);
		return style;
	}
}
