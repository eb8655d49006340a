/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of functions by samples: for each, how many samples had it at the top of the stack
 * (self), and how many anywhere in the stack (total, in which recursion counts once).
 */
#ifndef STACKTALLY_TUI_TOP_LIST_H
#define STACKTALLY_TUI_TOP_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "flame/flame_tree.h"
#include "tui/search.h"

struct top_row {
	uint32_t frame;
	uint64_t self, total;
};

struct top_list {
	struct top_row *rows; /* most samples first; ties by frame */
	uint32_t n;
};

/*
 * Lists the functions of a tree, without the root and processes; with a search, those that it
 * finds. `n_frames` is the size of `frames`, to which the tree's frame numbers refer. The caller
 * clears the list. 0 or -ENOMEM.
 */
int top_list_make(const struct flame_tree *tree, const struct flame_frame *frames,
		  uint32_t n_frames, bool by_total, const struct search *search,
		  struct top_list *ret_list);
void top_list_clear(struct top_list *list);

#endif
