/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hottest functions of a tree: in how many samples each was at the top of the stack (self) and
 * anywhere in it (total; a function that calls itself counts once).
 */
#ifndef STACKTALLY_TUI_TOP_LIST_H
#define STACKTALLY_TUI_TOP_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "flame/flame_tree.h"

struct top_row {
	uint32_t frame;
	uint64_t self, total;
};

struct top_list {
	struct top_row *rows; /* the hottest first; ties by frame */
	uint32_t n;
};

/*
 * Of functions only: no processes, no root. `n_frames`: all frame numbers are below. 0 or
 * -ENOMEM.
 */
int top_list_make(const struct flame_tree *tree, const struct flame_frame *frames,
		  uint32_t n_frames, bool by_total, struct top_list *ret_list);
void top_list_clear(struct top_list *list);

#endif
