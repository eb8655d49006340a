// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistr.h>

#include "tui/browser_internal.h"
#include "tui/keys.h"

static uint32_t selected_box(const struct browser *browser)
{
	return box_layout_find(&browser->layout, browser->selected);
}

/* ---- the prompt for a search */

static void add_character(struct browser *browser, uint32_t character)
{
	size_t size = strlen(browser->prompt);
	int n;

	if (character < ' ' || character >= KEY_NONE)
		return;
	n = u8_uctomb((uint8_t *)browser->prompt + size, character,
		      (ptrdiff_t)(sizeof(browser->prompt) - 1 - size));
	if (n > 0)
		browser->prompt[size + (size_t)n] = '\0';
}

static void remove_character(struct browser *browser)
{
	size_t size = strlen(browser->prompt);

	while (size > 0 && (browser->prompt[size - 1] & 0xc0) == 0x80)
		size--;
	if (size > 0)
		browser->prompt[size - 1] = '\0';
}

static int end_prompt(struct browser *browser)
{
	struct search *search = NULL;
	char why[100] = "";
	int r = 0;

	browser->prompting = false;
	if (browser->prompt[0])
		r = search_new(browser->prompt, why, sizeof(why), &search);
	if (r == -EINVAL) {
		snprintf(browser->message, sizeof(browser->message), "not a regular expression: %s",
			 why);
		return 0;
	}
	return r < 0 ? r : browser_search(browser, search);
}

static int key_in_prompt(struct browser *browser, uint32_t key)
{
	switch (key) {
	case KEY_ENTER:
		return end_prompt(browser);
	case KEY_ESCAPE:
	case KEY_INTERRUPT:
		browser->prompting = false;
		return 0;
	case KEY_BACKSPACE:
		if (!browser->prompt[0])
			browser->prompting = false;
		remove_character(browser);
		return 0;
	case KEY_ERASE:
		browser->prompt[0] = '\0';
		return 0;
	default:
		add_character(browser, key);
		return 0;
	}
}

/* ---- the flame graph */

static void to_next_match(struct browser *browser, int step)
{
	const struct box_layout *layout = &browser->layout;
	uint32_t at = selected_box(browser);

	if (!browser->search || at == BOX_NONE)
		return;
	for (uint32_t i = 0; i < layout->n; i++) {
		at = (at + layout->n + (uint32_t)step) % layout->n;
		if (search_finds(browser->search,
				 browser->tree->nodes[layout->boxes[at].node].frame)) {
			browser_select(browser, at);
			return;
		}
	}
	snprintf(browser->message, sizeof(browser->message), "%s",
		 browser->matched ? "the matches are narrower than a cell: zoom in" : "no match");
}

/*
 * Moves the selection away from the root by `rows`, along the widest children, or towards the root
 * if negative. Stops where there is no box.
 */
static void move_by(struct browser *browser, int32_t rows)
{
	uint32_t box = selected_box(browser), next = box;

	for (int32_t i = 0; next != BOX_NONE && i < (rows < 0 ? -rows : rows); i++) {
		box = next;
		next = rows > 0 ? box_layout_widest_child(&browser->layout, browser->tree, box)
		       : browser->selected == 0
			       ? BOX_NONE
			       : box_layout_find(&browser->layout,
						 browser->tree
							 ->nodes[browser->layout.boxes[box].node]
							 .parent);
		if (next == box)
			break;
	}
	browser_select(browser, next == BOX_NONE ? box : next);
}

static int search_selected(struct browser *browser, uint32_t frame)
{
	struct search *search = NULL;
	int r = search_new_name(browser->frames[frame].name, &search);

	return r < 0 ? r : browser_search(browser, search);
}

static int reset(struct browser *browser, bool all)
{
	bool zoomed = browser->zoom != 0;

	if (all || !zoomed)
		browser_search(browser, NULL);
	if (all)
		browser->selected = 0;
	return browser_zoom(browser, 0);
}

static int flame_key(struct browser *browser, uint32_t key)
{
	int32_t down = browser->upwards ? -1 : 1, page = (int32_t)browser->rows;
	uint32_t box = selected_box(browser);

	switch (key) {
	case 'h':
	case KEY_LEFT:
		if (box != BOX_NONE)
			browser_select(browser, box_layout_beside(&browser->layout, box, -1));
		return 0;
	case 'l':
	case KEY_RIGHT:
		if (box != BOX_NONE)
			browser_select(browser, box_layout_beside(&browser->layout, box, 1));
		return 0;
	case 'j':
	case KEY_DOWN:
		move_by(browser, down);
		return 0;
	case 'k':
	case KEY_UP:
		move_by(browser, -down);
		return 0;
	case 'f':
	case KEY_PAGE_DOWN:
		move_by(browser, down * page);
		return 0;
	case 'b':
	case KEY_PAGE_UP:
		move_by(browser, -down * page);
		return 0;
	case 'g':
	case KEY_HOME:
		move_by(browser, -down * (int32_t)browser->layout.n_rows);
		return 0;
	case 'G':
	case KEY_END:
		move_by(browser, down * (int32_t)browser->layout.n_rows);
		return 0;
	case KEY_ENTER:
		return browser_zoom(browser, browser->selected);
	case 'i':
		browser->upwards = !browser->upwards;
		return 0;
	case '#':
		return search_selected(browser, browser->tree->nodes[browser->selected].frame);
	default:
		return 0;
	}
}

/* ---- the top list */

static void move_in_list(struct browser *browser, int64_t by)
{
	int64_t at = (int64_t)browser->top_selected + by;

	if (at >= browser->top.n)
		at = (int64_t)browser->top.n - 1;
	browser->top_selected = at < 0 ? 0 : (uint32_t)at;
	browser_scroll_to_selection(browser);
}

static void next_match_in_list(struct browser *browser, int step)
{
	uint32_t n = browser->top.n, at = browser->top_selected;

	for (uint32_t i = 0; browser->search && i < n; i++) {
		at = (at + n + (uint32_t)step) % n;
		if (search_finds(browser->search, browser->top.rows[at].frame)) {
			browser->top_selected = at;
			browser_scroll_to_selection(browser);
			return;
		}
	}
}

static int top_key(struct browser *browser, uint32_t key)
{
	int64_t page = browser->rows > 2 ? browser->rows - 2 : 1;
	uint32_t frame = browser->top.n ? browser->top.rows[browser->top_selected].frame : 0;

	switch (key) {
	case 'j':
	case KEY_DOWN:
		move_in_list(browser, 1);
		return 0;
	case 'k':
	case KEY_UP:
		move_in_list(browser, -1);
		return 0;
	case 'f':
	case KEY_PAGE_DOWN:
		move_in_list(browser, page);
		return 0;
	case 'b':
	case KEY_PAGE_UP:
		move_in_list(browser, -page);
		return 0;
	case 'g':
	case KEY_HOME:
		move_in_list(browser, INT32_MIN);
		return 0;
	case 'G':
	case KEY_END:
		move_in_list(browser, INT32_MAX);
		return 0;
	case '1':
		return browser_sort(browser, true);
	case '2':
		return browser_sort(browser, false);
	case '#':
		return browser->top.n ? search_selected(browser, frame) : 0;
	case KEY_ENTER: /* show the function in the flame graph */
		if (!browser->top.n)
			return 0;
		browser->tab = BROWSER_FLAME;
		browser->selected = 0;
		if (search_selected(browser, frame) < 0)
			return -ENOMEM;
		to_next_match(browser, 1);
		return 0;
	default:
		return 0;
	}
}

/* ---- both */

static int key_of_tab(struct browser *browser, uint32_t key)
{
	return browser->tab == BROWSER_FLAME ? flame_key(browser, key) : top_key(browser, key);
}

static void next_match(struct browser *browser, int step)
{
	if (browser->tab == BROWSER_FLAME)
		to_next_match(browser, step);
	else
		next_match_in_list(browser, step);
}

int browser_key(struct browser *browser, uint32_t key)
{
	browser->message[0] = '\0';
	if (browser->prompting)
		return key_in_prompt(browser, key);
	/* As in less and htop, q leaves the help first. */
	if (key == KEY_INTERRUPT || (key == 'q' && !browser->help)) {
		snprintf(browser->message, sizeof(browser->message),
			 "ending, with the command if there is one; q again ends before it");
		return BROWSER_QUIT;
	}
	if (browser->help || key == '?') {
		browser->help = !browser->help;
		return BROWSER_GO_ON;
	}
	if (!browser->tree)
		return BROWSER_GO_ON;
	switch (key) {
	case '/':
		browser->prompting = true;
		browser->prompt[0] = '\0';
		return BROWSER_GO_ON;
	case KEY_TAB:
	case KEY_BACK_TAB:
		browser->tab = browser->tab == BROWSER_FLAME ? BROWSER_TOP : BROWSER_FLAME;
		return BROWSER_GO_ON;
	case 'z':
		browser->frozen = !browser->frozen;
		return BROWSER_GO_ON;
	case 'n':
		next_match(browser, 1);
		return BROWSER_GO_ON;
	case 'N':
		next_match(browser, -1);
		return BROWSER_GO_ON;
	case KEY_ESCAPE:
		return reset(browser, false);
	case 'r':
		return reset(browser, true);
	default:
		return key_of_tab(browser, key);
	}
}
