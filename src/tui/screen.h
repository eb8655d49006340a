/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A screen of cells, drawn in memory; what changed since the last time is put out as escape
 * sequences of ECMA-48 and xterm's colours. Text comes from hostile programs: nothing but
 * characters that take one or two cells gets here, so none of it can be a control. Must not know:
 * what is drawn, terminals.
 */
#ifndef STACKTALLY_TUI_SCREEN_H
#define STACKTALLY_TUI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/own.h"

#define SCREEN_MAX_ROWS	   1000
#define SCREEN_MAX_COLUMNS 1000

/* 0xRRGGBB, or: */
#define SCREEN_DEFAULT UINT32_MAX

enum screen_attributes {
	SCREEN_BOLD = 1 << 0,
	SCREEN_UNDERLINE = 1 << 1,
	SCREEN_REVERSE = 1 << 2,
	SCREEN_DIM = 1 << 3,
};

struct screen_style {
	uint32_t text, ground; /* colours */
	uint32_t attributes;
};

#define SCREEN_PLAIN ((struct screen_style){ SCREEN_DEFAULT, SCREEN_DEFAULT, 0 })

enum screen_colours {
	SCREEN_COLOURS_NONE, /* attributes only */
	SCREEN_COLOURS_16,
	SCREEN_COLOURS_256,
	SCREEN_COLOURS_ALL,
};

struct screen;

int screen_new(enum screen_colours colours, bool utf8, struct screen **ret_screen);
void screen_free(struct screen *screen);
DEFINE_OWN(struct screen, screen_free)

enum screen_colours screen_colours(const struct screen *screen);
bool screen_utf8(const struct screen *screen);

/* Another size, within the limits; all is drawn anew. 0 or -ENOMEM. */
int screen_resize(struct screen *screen, uint32_t rows, uint32_t columns);
uint32_t screen_rows(const struct screen *screen);
uint32_t screen_columns(const struct screen *screen);

/* Begins a picture: all cells are blank. */
void screen_clear(struct screen *screen);
/* The next screen_show() draws everything: somebody else wrote to the terminal. */
void screen_forget(struct screen *screen);

/*
 * Writes text of UTF-8 into at most `width` cells from there, and fills the rest of them with
 * blanks. What is cut ends with a mark when there is room for one. Returns the cells that the text
 * took.
 */
uint32_t screen_put(struct screen *screen, uint32_t row, uint32_t column, uint32_t width,
		    const char *text, struct screen_style style);

/* The character in a cell, 0 in the right half of a wide one; for tests. */
uint32_t screen_character(const struct screen *screen, uint32_t row, uint32_t column);
struct screen_style screen_style(const struct screen *screen, uint32_t row, uint32_t column);

/* Puts out what differs from what was shown before. */
void screen_show(struct screen *screen, FILE *out);

#endif
