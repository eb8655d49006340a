/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lays out a flame graph in character cells: row, column and width of each node's box. Nodes that
 * would be narrower than a cell get no box. Knows neither screens nor keys.
 */
#ifndef STACKTALLY_TUI_BOX_LAYOUT_H
#define STACKTALLY_TUI_BOX_LAYOUT_H

#include <stdint.h>

#include "flame/flame_tree.h"

#define BOX_NONE UINT32_MAX

struct layout_box {
	uint32_t node;
	uint32_t row;		/* the node's depth in the tree */
	uint32_t column, width; /* cells */
};

struct box_layout {
	struct layout_box *boxes; /* ordered by node, so in each row from left to right */
	uint32_t n, capacity;
	uint32_t n_rows;
};

/*
 * Lays out node `zoom`, its ancestors and what is below it; it and its ancestors fill all columns.
 * `layout` is all zero at first, and is used again. 0 or -ENOMEM.
 */
int box_layout_make(struct box_layout *layout, const struct flame_tree *tree, uint32_t zoom,
		    uint32_t columns);
void box_layout_clear(struct box_layout *layout);

/* The index of the node's box, or BOX_NONE. */
uint32_t box_layout_find(const struct box_layout *layout, uint32_t node);
/* The same of the node or, if it has no box, of its nearest ancestor that has one. */
uint32_t box_layout_find_near(const struct box_layout *layout, const struct flame_tree *tree,
			      uint32_t node);

/* The next box in the same row to the right (`step` 1) or left (-1), or BOX_NONE. */
uint32_t box_layout_beside(const struct box_layout *layout, uint32_t box, int step);
/* The box of the child with most samples, or BOX_NONE. */
uint32_t box_layout_widest_child(const struct box_layout *layout, const struct flame_tree *tree,
				 uint32_t box);

#endif
