/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of a flame graph browser: what is selected, zoomed into and searched for, and on which
 * tab. When a new tree replaces the last one, selection and zoom stay with their functions. Keys
 * are those of flamelens. Knows neither terminals nor measurements.
 *
 * Owns its layout, list and search; trees and frames are borrowed until the next browser_update().
 * All zero at the start; not locked.
 */
#ifndef STACKTALLY_TUI_BROWSER_H
#define STACKTALLY_TUI_BROWSER_H

#include <stdbool.h>
#include <stdint.h>

#include "flame/flame_tree.h"
#include "tui/box_layout.h"
#include "tui/search.h"
#include "tui/top_list.h"

enum browser_tab {
	BROWSER_FLAME,
	BROWSER_TOP,
};

struct browser {
	const struct flame_tree *tree;
	const struct flame_frame *frames;
	uint32_t n_frames;

	enum browser_tab tab;
	bool frozen;
	bool upwards; /* the root is at the bottom (a flame graph), not at the top (an icicle graph)
		       */
	bool help;

	/* The flame graph: nodes of the tree. */
	uint32_t zoom, selected;
	struct box_layout layout;
	uint32_t rows, columns; /* of the area to draw on, in cells */
	uint32_t scroll;	/* the first row of the layout that is shown */

	/* The top list. */
	struct top_list top;
	bool by_total;
	uint32_t top_selected, top_scroll; /* indices of rows */

	struct search *search;
	uint64_t matched; /* samples of stacks below `zoom` that contain a match */
	bool prompting;	  /* for a search; `prompt` is what was typed so far */
	char prompt[SEARCH_MAX_SIZE];
	char message[128]; /* shown until the next key */
};

void browser_clear(struct browser *browser);

/* Shows another tree. 0, or -ENOMEM: then nothing can be shown. */
int browser_update(struct browser *browser, const struct flame_tree *tree,
		   const struct flame_frame *frames, uint32_t n_frames);
/* Sets the size of the area to draw on, in cells. 0 or -ENOMEM. */
int browser_resize(struct browser *browser, uint32_t rows, uint32_t columns);

enum browser_result {
	BROWSER_GO_ON,
	BROWSER_QUIT,
};

/* Handles a key (keys.h). An enum browser_result, or -ENOMEM. */
int browser_key(struct browser *browser, uint32_t key);

#endif
