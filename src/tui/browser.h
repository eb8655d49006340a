/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Somebody who looks at a flame graph that may move: what is selected, zoomed into, searched for,
 * on which tab. Trees follow one another; what the user looks at stays where it is. Keys are those
 * of flamelens. Must not know: terminals, who measures.
 *
 * Trees and frames are borrowed, until the next browser_update().
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
	bool upwards; /* a flame graph: the root is at the bottom; else an icicle */
	bool help;

	/* The flame graph: nodes of the tree. */
	uint32_t zoom, selected;
	struct box_layout layout;
	uint32_t rows, columns; /* that there are to draw on */
	uint32_t scroll;	/* the layout's first row that is shown */

	/* The top list. */
	struct top_list top;
	bool by_total;
	uint32_t top_selected, top_scroll; /* indices of rows */

	struct search *search;
	uint64_t found; /* samples through what it finds, below `zoom` */
	bool asking;	/* for what to search: the text so far */
	char text[SEARCH_MAX_SIZE];
	char message[128]; /* until the next key */
};

void browser_clear(struct browser *browser);

/* Another tree. 0 or -ENOMEM; then nothing can be shown. */
int browser_update(struct browser *browser, const struct flame_tree *tree,
		   const struct flame_frame *frames, uint32_t n_frames);
/* Another size of what is drawn on. */
int browser_resize(struct browser *browser, uint32_t rows, uint32_t columns);

enum browser_wish {
	BROWSER_GO_ON,
	BROWSER_QUIT,
};

/* Does what a key (keys.h) says. A wish or -ENOMEM. */
int browser_key(struct browser *browser, uint32_t key);

/* What keys do; for browser_keys.c. */
int browser_zoom(struct browser *browser, uint32_t node);
void browser_select(struct browser *browser, uint32_t box);
int browser_sort(struct browser *browser, bool by_total);
/* Takes over the search; NULL: none. */
int browser_search(struct browser *browser, struct search *search);
/* Makes visible what is selected. */
void browser_follow(struct browser *browser);

#endif
