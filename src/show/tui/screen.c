// SPDX-License-Identifier: GPL-2.0-or-later
#include "tui/screen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistr.h>
#include <uniwidth.h>

#define ELLIPSIS 0x2026

struct cell {
	uint32_t character; /* 0: the right half of a wide character */
	struct screen_style style;
};

struct screen {
	enum screen_colours colours;
	bool utf8, invalid;
	uint32_t rows, columns;
	struct cell *cells, *shown;
};

int screen_new(enum screen_colours colours, bool utf8, struct screen **ret_screen)
{
	struct screen *screen = calloc(1, sizeof(*screen));

	if (!screen)
		return -ENOMEM;
	screen->colours = colours;
	screen->utf8 = utf8;
	screen->invalid = true;
	*ret_screen = screen;
	return 0;
}

void screen_free(struct screen *screen)
{
	if (!screen)
		return;
	free(screen->cells);
	free(screen->shown);
	free(screen);
}

enum screen_colours screen_colours(const struct screen *screen)
{
	return screen->colours;
}

bool screen_utf8(const struct screen *screen)
{
	return screen->utf8;
}

uint32_t screen_rows(const struct screen *screen)
{
	return screen->rows;
}

uint32_t screen_columns(const struct screen *screen)
{
	return screen->columns;
}

int screen_resize(struct screen *screen, uint32_t rows, uint32_t columns)
{
	struct cell *cells, *shown;

	if (rows > SCREEN_MAX_ROWS)
		rows = SCREEN_MAX_ROWS;
	if (columns > SCREEN_MAX_COLUMNS)
		columns = SCREEN_MAX_COLUMNS;
	cells = calloc((size_t)rows * columns + 1, sizeof(*cells));
	shown = calloc((size_t)rows * columns + 1, sizeof(*shown));
	if (!cells || !shown) {
		free(cells);
		free(shown);
		return -ENOMEM;
	}
	free(screen->cells);
	free(screen->shown);
	screen->cells = cells;
	screen->shown = shown;
	screen->rows = rows;
	screen->columns = columns;
	screen->invalid = true;
	screen_clear(screen);
	return 0;
}

void screen_clear(struct screen *screen)
{
	for (size_t i = 0; i < (size_t)screen->rows * screen->columns; i++)
		screen->cells[i] = (struct cell){ ' ', SCREEN_PLAIN };
}

void screen_invalidate(struct screen *screen)
{
	screen->invalid = true;
}

/*
 * The next character that takes one or two cells, and how many; 0 at the end. Skips others: control
 * and combining characters, and those that change the direction of text.
 */
static uint32_t next_character(const struct screen *screen, const uint8_t **at, const uint8_t *end,
			       uint32_t *ret_width)
{
	while (*at < end) {
		ucs4_t character;
		int size = u8_mbtouc(&character, *at, (size_t)(end - *at)), width;

		*at += size > 0 ? size : 1;
		width = uc_width(character, "UTF-8");
		if (width <= 0)
			continue;
		*ret_width = (uint32_t)width;
		if (screen->utf8 || character < 0x7f)
			return character;
		*ret_width = 1;
		return '?';
	}
	return 0;
}

static void set_cell(struct screen *screen, uint32_t row, uint32_t column, uint32_t character,
		     struct screen_style style)
{
	screen->cells[(size_t)row * screen->columns + column] = (struct cell){ character, style };
}

uint32_t screen_put(struct screen *screen, uint32_t row, uint32_t column, uint32_t width,
		    const char *text, struct screen_style style)
{
	const uint8_t *at = (const uint8_t *)text, *end = at + strlen(text);
	uint32_t used = 0, cells, character, last = 0;

	if (row >= screen->rows || column >= screen->columns)
		return 0;
	if (width > screen->columns - column)
		width = screen->columns - column;
	while ((character = next_character(screen, &at, end, &cells))) {
		if (used + cells > width) {
			/* The ellipsis replaces the last character. */
			if (used > 1)
				set_cell(screen, row, column + last, screen->utf8 ? ELLIPSIS : '~',
					 style);
			if (used > 1 && last + 1 < used)
				set_cell(screen, row, column + last + 1, ' ', style);
			break;
		}
		last = used;
		set_cell(screen, row, column + used++, character, style);
		if (cells == 2)
			set_cell(screen, row, column + used++, 0, style);
	}
	for (uint32_t i = used; i < width; i++)
		set_cell(screen, row, column + i, ' ', style);
	return used;
}

uint32_t screen_character(const struct screen *screen, uint32_t row, uint32_t column)
{
	return screen->cells[(size_t)row * screen->columns + column].character;
}

struct screen_style screen_style(const struct screen *screen, uint32_t row, uint32_t column)
{
	return screen->cells[(size_t)row * screen->columns + column].style;
}

/* ---- flushing */

static uint32_t distance(uint32_t a, uint32_t b)
{
	int red = (int)(a >> 16 & 255) - (int)(b >> 16 & 255);
	int green = (int)(a >> 8 & 255) - (int)(b >> 8 & 255);
	int blue = (int)(a & 255) - (int)(b & 255);

	return (uint32_t)(red * red * 3 + green * green * 4 + blue * blue * 2);
}

/* The number of the nearest of the 16 standard colours, with xterm's values. */
static uint32_t nearest_of_16(uint32_t colour)
{
	static const uint32_t palette[] = { 0x000000, 0xcd0000, 0x00cd00, 0xcdcd00,
					    0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
					    0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00,
					    0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff };
	uint32_t best = 0;

	for (uint32_t i = 1; i < 16; i++) {
		if (distance(palette[i], colour) < distance(palette[best], colour))
			best = i;
	}
	return best;
}

/* The number of the nearest of xterm's 216 colours and 24 greys. */
static uint32_t nearest_of_256(uint32_t colour)
{
	static const uint32_t levels[] = { 0, 95, 135, 175, 215, 255 };
	uint32_t cube = 0, shade = 0, number = 16, grey, level;

	for (int shift = 16; shift >= 0; shift -= 8) {
		uint32_t part = colour >> shift & 255, best = 0;

		for (uint32_t i = 1; i < 6; i++) {
			if (abs((int)levels[i] - (int)part) < abs((int)levels[best] - (int)part))
				best = i;
		}
		cube = cube << 8 | levels[best];
		number += best * (shift == 16 ? 36 : shift == 8 ? 6 : 1);
	}
	shade = ((colour >> 16 & 255) + (colour >> 8 & 255) + (colour & 255)) / 3;
	grey = shade < 3 ? 0 : (shade - 3) / 10;
	if (grey > 23)
		grey = 23;
	level = 8 + grey * 10;
	return distance(level << 16 | level << 8 | level, colour) < distance(cube, colour)
		       ? 232 + grey
		       : number;
}

static void put_colour(const struct screen *screen, uint32_t colour, bool background, FILE *out)
{
	uint32_t number;

	if (colour == SCREEN_DEFAULT)
		return;
	switch (screen->colours) {
	case SCREEN_COLOURS_NONE:
		break;
	case SCREEN_COLOURS_16:
		number = nearest_of_16(colour);
		fprintf(out, ";%u",
			(number < 8 ? 30 + number : 82 + number) + (background ? 10 : 0));
		break;
	case SCREEN_COLOURS_256:
		fprintf(out, ";%d;5;%u", background ? 48 : 38, nearest_of_256(colour));
		break;
	case SCREEN_COLOURS_ALL:
		fprintf(out, ";%d;2;%u;%u;%u", background ? 48 : 38, colour >> 16 & 255,
			colour >> 8 & 255, colour & 255);
		break;
	}
}

static void put_style(const struct screen *screen, const struct screen_style *style, FILE *out)
{
	fputs("\033[0", out);
	if (style->attributes & SCREEN_BOLD)
		fputs(";1", out);
	if (style->attributes & SCREEN_DIM)
		fputs(";2", out);
	if (style->attributes & SCREEN_UNDERLINE)
		fputs(";4", out);
	if (style->attributes & SCREEN_REVERSE)
		fputs(";7", out);
	put_colour(screen, style->foreground, false, out);
	put_colour(screen, style->background, true, out);
	fputc('m', out);
}

static void put_character(uint32_t character, FILE *out)
{
	uint8_t bytes[6];
	int n = u8_uctomb(bytes, character, sizeof(bytes));

	if (n > 0)
		fwrite(bytes, 1, (size_t)n, out);
}

static bool same_cell(const struct cell *a, const struct cell *b)
{
	return a->character == b->character && a->style.foreground == b->style.foreground &&
	       a->style.background == b->style.background &&
	       a->style.attributes == b->style.attributes;
}

static void show_row(struct screen *screen, uint32_t row, struct screen_style *style, bool *styled,
		     FILE *out)
{
	const struct cell *cells = &screen->cells[(size_t)row * screen->columns];
	struct cell *shown = &screen->shown[(size_t)row * screen->columns];
	uint32_t cursor = UINT32_MAX;

	for (uint32_t column = 0; column < screen->columns; column++) {
		const struct cell *cell = &cells[column];

		/* The right half of a wide character is written with its left half. */
		if (cell->character == 0)
			continue;
		if (!screen->invalid && same_cell(cell, &shown[column]) &&
		    (column + 1 == screen->columns || cell[1].character != 0 ||
		     same_cell(&cell[1], &shown[column + 1])))
			continue;
		if (cursor != column)
			fprintf(out, "\033[%u;%uH", row + 1, column + 1);
		if (!*styled || memcmp(style, &cell->style, sizeof(*style)) != 0)
			put_style(screen, &cell->style, out);
		*style = cell->style;
		*styled = true;
		put_character(cell->character, out);
		cursor = column + 1;
		if (cursor < screen->columns && cell[1].character == 0)
			cursor++;
	}
	memcpy(shown, cells, screen->columns * sizeof(*cells));
}

void screen_flush(struct screen *screen, FILE *out)
{
	struct screen_style style = SCREEN_PLAIN;
	bool styled = false;

	if (screen->invalid)
		fputs("\033[0m\033[2J", out);
	for (uint32_t row = 0; row < screen->rows; row++)
		show_row(screen, row, &style, &styled, out);
	screen->invalid = false;
	fputs("\033[0m", out);
}
