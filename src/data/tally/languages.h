/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What reports say of the languages of bpf/languages.h: names and colours. Plain data. */
#ifndef STACKTALLY_TALLY_LANGUAGES_H
#define STACKTALLY_TALLY_LANGUAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/languages.h"

/* Degrees and percents: the base colour of functions in pictures, and the range of its shades. */
struct language_palette {
	uint16_t hue_from, hue_by;
	uint8_t saturation;
	uint8_t light_from, light_by;
};

/* On terminals: the middle of the hue, and by how much shades may differ from it. */
struct language_terminal {
	uint8_t red, green, blue;
	uint8_t spread;
	uint32_t plain; /* where there are 16 colours */
};

struct language_look {
	const char *name;  /* "python", as in "[python: no state]" */
	const char *title; /* "Python" */
	bool has_frames;   /* each function has a native frame of its own */
	struct language_palette palette;
	struct language_terminal terminal;
};

/* A value that is no language looks like "program", in greys. */
const struct language_look *language_look(uint32_t language);

#endif
