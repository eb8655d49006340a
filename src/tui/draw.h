/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The picture of a browser on a screen. Must not know: terminals, keys, who measures. */
#ifndef STACKTALLY_TUI_DRAW_H
#define STACKTALLY_TUI_DRAW_H

#include "tui/browser.h"
#include "tui/screen.h"

/* Rows of the screen that are not the graph's or the list's. */
#define DRAW_OTHER_ROWS 3u

/* What stands above: of the measurement. */
struct draw_status {
	const char *title;
	double seconds;
	uint64_t samples, lost;
	bool ended;
};

void draw(struct screen *screen, const struct browser *browser, const struct draw_status *status);

#endif
