/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws a browser on a screen. Knows neither terminals nor keys. */
#ifndef STACKTALLY_TUI_DRAW_H
#define STACKTALLY_TUI_DRAW_H

#include "tui/browser.h"
#include "tui/screen.h"

/* Rows above and below the graph or list. */
#define DRAW_OTHER_ROWS 3u

/* The measurement, for the first line. `title` is borrowed. */
struct draw_status {
	const char *title;
	const char *unit;   /* "samples" */
	const char *events; /* what one has to wait for: "samples", "calls", "absences" */
	double seconds;
	uint64_t samples, lost;
	bool ended;
};

/* Draws all of it; screen_flush() then shows it. */
void draw(struct screen *screen, const struct browser *browser, const struct draw_status *status);

#endif
