// SPDX-License-Identifier: GPL-2.0-or-later
#include "tui/browser_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"

void browser_clear(struct browser *browser)
{
	box_layout_clear(&browser->layout);
	top_list_clear(&browser->top);
	search_free(browser->search);
	*browser = (struct browser){ 0 };
}

/* The scroll position nearest to `scroll` at which row `at` of `n` is visible in `rows`. */
static uint32_t scroll_to(uint32_t scroll, uint32_t at, uint32_t n, uint32_t rows)
{
	uint32_t most = n > rows ? n - rows : 0;

	if (at < scroll)
		scroll = at;
	if (rows > 0 && at >= scroll + rows)
		scroll = at - rows + 1;
	return scroll > most ? most : scroll;
}

void browser_scroll_to_selection(struct browser *browser)
{
	uint32_t row = browser->tree ? browser->tree->nodes[browser->selected].depth : 0;
	/* One row has the titles of the list's columns. */
	uint32_t lines = browser->rows > 1 ? browser->rows - 1 : 0;

	browser->scroll = scroll_to(browser->scroll, row, browser->layout.n_rows, browser->rows);
	browser->top_scroll =
		scroll_to(browser->top_scroll, browser->top_selected, browser->top.n, lines);
}

void browser_select(struct browser *browser, uint32_t box)
{
	if (box == BOX_NONE)
		return;
	browser->selected = browser->layout.boxes[box].node;
	browser_scroll_to_selection(browser);
}

/* A match's total contains those of all matches below it. */
static void sum_matched(struct browser *browser)
{
	const struct flame_node *nodes = browser->tree->nodes;
	uint32_t i = browser->zoom, end = nodes[i].end;

	browser->matched = 0;
	while (browser->search && i < end) {
		if (search_finds(browser->search, nodes[i].frame)) {
			browser->matched += nodes[i].total;
			i = nodes[i].end;
		} else {
			i++;
		}
	}
}

static int lay_out(struct browser *browser)
{
	int r = box_layout_make(&browser->layout, browser->tree, browser->zoom, browser->columns);
	uint32_t box;

	if (r < 0)
		return r;
	box = box_layout_find_near(&browser->layout, browser->tree, browser->selected);
	browser->selected = box == BOX_NONE ? browser->zoom : browser->layout.boxes[box].node;
	sum_matched(browser);
	browser_scroll_to_selection(browser);
	return 0;
}

int browser_zoom(struct browser *browser, uint32_t node)
{
	browser->zoom = node;
	return lay_out(browser);
}

int browser_resize(struct browser *browser, uint32_t rows, uint32_t columns)
{
	browser->rows = rows;
	browser->columns = columns;
	return browser->tree ? lay_out(browser) : 0;
}

/*
 * The node of the new tree with the path that `node` has in the old one, or the last one on that
 * path which still exists. `path` is scratch, of the old tree's depth plus 2.
 */
static uint32_t same_node(const struct flame_tree *old, uint32_t node,
			  const struct flame_tree *tree, uint64_t *path)
{
	uint32_t depth = old->nodes[node].depth, at = 0;

	for (uint32_t i = depth; i > 0; i--) {
		path[i] = old->nodes[node].id;
		node = old->nodes[node].parent;
	}
	for (uint32_t i = 1; i <= depth; i++) {
		uint32_t end = tree->nodes[at].end, child = at + 1;

		while (child < end && tree->nodes[child].id != path[i])
			child = tree->nodes[child].end;
		if (child >= end)
			break;
		at = child;
	}
	return at;
}

static int sort_again(struct browser *browser)
{
	uint32_t frame = browser->top_selected < browser->top.n
				 ? browser->top.rows[browser->top_selected].frame
				 : UINT32_MAX;
	struct top_list top;
	int r = top_list_make(browser->tree, browser->frames, browser->n_frames, browser->by_total,
			      browser->search, &top);

	if (r < 0)
		return r;
	top_list_clear(&browser->top);
	browser->top = top;
	/* The selection follows its function, but for the first row, which stays selected. */
	for (uint32_t i = 0; browser->top_selected > 0 && i < top.n; i++) {
		if (top.rows[i].frame == frame) {
			browser->top_selected = i;
			break;
		}
	}
	if (browser->top_selected >= top.n)
		browser->top_selected = 0;
	browser_scroll_to_selection(browser);
	return 0;
}

int browser_sort(struct browser *browser, bool by_total)
{
	browser->by_total = by_total;
	return sort_again(browser);
}

int browser_search(struct browser *browser, struct search *search)
{
	search_free(browser->search);
	browser->search = search;
	if (search && search_update(search, browser->frames, browser->n_frames) < 0)
		return -ENOMEM;
	sum_matched(browser);
	return browser->tree ? sort_again(browser) : 0;
}

int browser_update(struct browser *browser, const struct flame_tree *tree,
		   const struct flame_frame *frames, uint32_t n_frames)
{
	const struct flame_tree *old = browser->tree;
	int r;

	if (old) {
		own(own_free) uint64_t *path = calloc(old->max_depth + 2, sizeof(*path));

		if (!path)
			return -ENOMEM;
		browser->zoom = same_node(old, browser->zoom, tree, path);
		browser->selected = same_node(old, browser->selected, tree, path);
	}
	browser->tree = tree;
	browser->frames = frames;
	browser->n_frames = n_frames;
	if (browser->search) {
		r = search_update(browser->search, frames, n_frames);
		if (r < 0)
			return r;
	}
	r = lay_out(browser);
	return r < 0 ? r : sort_again(browser);
}
