/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What browser_keys.c, which handles keys, needs of browser.c, which keeps the state. Functions
 * that can fail return 0 or -ENOMEM.
 */
#ifndef STACKTALLY_TUI_BROWSER_INTERNAL_H
#define STACKTALLY_TUI_BROWSER_INTERNAL_H

#include "tui/browser.h"

/* Zooms into a node of the tree. */
int browser_zoom(struct browser *browser, uint32_t node);
/* Selects the node of a box of the layout; BOX_NONE changes nothing. */
void browser_select(struct browser *browser, uint32_t box);
/* Sorts the top list. */
int browser_sort(struct browser *browser, bool by_total);
/* Replaces the search, and takes over the new one; NULL: none. */
int browser_search(struct browser *browser, struct search *search);
/* Scrolls so that the selected box or row is visible. */
void browser_scroll_to_selection(struct browser *browser);

#endif
