// SPDX-License-Identifier: GPL-2.0-or-later
#include "flame/flame_colour.h"

static const struct language_palette palettes[FLAME_N_PLAIN] = {
	[FLAME_ROOT] = { 215, 0, 16, 80, 0 },	   [FLAME_WHO] = { 205, 20, 24, 74, 8 },
	[FLAME_KERNEL] = { 8, 14, 82, 66, 10 },	   [FLAME_USER] = { 38, 14, 90, 62, 10 },
	[FLAME_CPP] = { 66, 16, 58, 60, 10 },	   [FLAME_JIT] = { 128, 20, 42, 62, 10 },
	[FLAME_INLINED] = { 178, 14, 44, 64, 10 }, [FLAME_MARKER] = { 220, 0, 6, 72, 8 },
	[FLAME_IDENTITY] = { 40, 12, 34, 74, 10 }, [FLAME_BLOCKED] = { 226, 0, 32, 62, 0 },
	[FLAME_WAITING] = { 318, 0, 58, 70, 0 },
};

/* FNV-1a, because colour.js must compute the same hash. */
static uint32_t hash_name(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return hash ^ hash >> 15;
}

static double channel(double hue, double saturation, double light, double shift)
{
	double at = hue / 60 + shift, reach, level;

	while (at >= 6)
		at -= 6;
	reach = light < 0.5 ? light * (1 + saturation) : light + saturation - light * saturation;
	level = at < 1 ? at : at < 3 ? 1 : at < 4 ? 4 - at : 0;
	return 2 * light - reach + 2 * (reach - light) * level;
}

static uint8_t byte(double part)
{
	return (uint8_t)(part * 255 + 0.5);
}

/* From hue, saturation and lightness as CSS defines them. */
static struct flame_colour from_hsl(double hue, double saturation, double light)
{
	return (struct flame_colour){ .red = byte(channel(hue, saturation, light, 2)),
				      .green = byte(channel(hue, saturation, light, 0)),
				      .blue = byte(channel(hue, saturation, light, 4)) };
}

struct flame_colour flame_colour_of(const struct flame_frame *frame)
{
	const struct language_palette *palette =
		frame->kind < FLAME_N_PLAIN
			? &palettes[frame->kind]
			: &language_look(flame_kind_language(frame->kind))->palette;
	uint32_t hash = hash_name(frame->name);

	return from_hsl(palette->hue_from + palette->hue_by * (hash & 0xff) / 255.0,
			palette->saturation / 100.0,
			(palette->light_from + palette->light_by * (hash >> 8 & 0xff) / 255.0) /
				100.0);
}

struct flame_colour flame_colour_change(double now, double before)
{
	double more = now - before, most = now > before ? now : before;
	double strength, surprise, saturation;

	if (most <= 0)
		return (struct flame_colour){ 240, 240, 240 };
	/*
	 * The square of the change in standard deviations, which are the square roots of counts;
	 * full strength at three of them.
	 */
	surprise = more * more / (now + before) / 9;
	strength = (more < 0 ? -more : more) / most * (surprise < 1 ? surprise : 1);
	/* Frames that hardly changed are grey, not a little blue. */
	saturation = 0.85 * (strength < 0.2 ? strength * 5 : 1);
	return from_hsl(more > 0 ? 4 : 214, saturation, 0.94 - 0.36 * strength);
}
