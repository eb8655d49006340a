/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A screen of character cells in memory. Flushing it writes what changed since the last time, as
 * escape sequences of ECMA-48 with xterm's colours. Text may come from hostile programs: only
 * characters that take one or two cells are stored, so that no control character gets through.
 * Knows neither terminals nor what is drawn. Used by one thread.
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

/* Instead of a colour, which is 0xRRGGBB: the terminal's own. */
#define SCREEN_DEFAULT UINT32_MAX

enum screen_attributes {
	SCREEN_BOLD = 1 << 0,
	SCREEN_UNDERLINE = 1 << 1,
	SCREEN_REVERSE = 1 << 2,
	SCREEN_DIM = 1 << 3,
};

struct screen_style {
	uint32_t foreground, background; /* colours */
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

/* An empty screen of no size. `utf8`: else all but ASCII is shown as '?'. 0 or -ENOMEM. */
int screen_new(enum screen_colours colours, bool utf8, struct screen **ret_screen);
void screen_free(struct screen *screen);
DEFINE_OWN(struct screen, screen_free)

enum screen_colours screen_colours(const struct screen *screen);
bool screen_utf8(const struct screen *screen);

/* Sets the size, cut to the limits above, and makes all cells blank. 0 or -ENOMEM. */
int screen_resize(struct screen *screen, uint32_t rows, uint32_t columns);
uint32_t screen_rows(const struct screen *screen);
uint32_t screen_columns(const struct screen *screen);

/* Makes all cells blank, to draw the next picture. */
void screen_clear(struct screen *screen);
/* Makes the next screen_flush() write all cells, as when another program used the terminal. */
void screen_invalidate(struct screen *screen);

/*
 * Puts UTF-8 text into `width` cells from there on, cut at the right edge, and fills those that it
 * does not need with blanks. Text that is cut ends with an ellipsis if it has two cells or more.
 * Returns how many cells the text took.
 */
uint32_t screen_put(struct screen *screen, uint32_t row, uint32_t column, uint32_t width,
		    const char *text, struct screen_style style);

/* The character in a cell, 0 in the right half of a wide one; for tests. */
uint32_t screen_character(const struct screen *screen, uint32_t row, uint32_t column);
struct screen_style screen_style(const struct screen *screen, uint32_t row, uint32_t column);

/* Writes the cells that changed since the last flush. Write errors are the stream's. */
void screen_flush(struct screen *screen, FILE *out);

#endif
