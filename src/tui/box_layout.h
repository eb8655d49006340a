/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the boxes of a tree lie: in which row, from which cell, how many cells wide. What is
 * narrower than a cell has no box. Must not know: screens, keys.
 */
#ifndef STACKTALLY_TUI_BOX_LAYOUT_H
#define STACKTALLY_TUI_BOX_LAYOUT_H

#include <stdint.h>

#include "flame/flame_tree.h"

#define BOX_NONE UINT32_MAX

struct layout_box {
	uint32_t node;
	uint32_t row; /* the depth in the tree */
	uint32_t column, width;
};

struct box_layout {
	struct layout_box *boxes; /* in the order of nodes: in each row from left to right */
	uint32_t n, room;
	uint32_t n_rows;
};

/*
 * The boxes of what is below node `zoom`, which fills the width as its ancestors do. 0 or -ENOMEM.
 */
int box_layout_make(struct box_layout *layout, const struct flame_tree *tree, uint32_t zoom,
		    uint32_t columns);
void box_layout_clear(struct box_layout *layout);

/* The index of the node's box, or BOX_NONE. */
uint32_t box_layout_find(const struct box_layout *layout, uint32_t node);
/* The same of the node, or of the nearest below it on its way to the root that has one. */
uint32_t box_layout_find_near(const struct box_layout *layout, const struct flame_tree *tree,
			      uint32_t node);

/* The next box in the same row to the right (step 1) or left (-1), or BOX_NONE. */
uint32_t box_layout_beside(const struct box_layout *layout, uint32_t box, int step);
/* The widest box of a child, or BOX_NONE. */
uint32_t box_layout_widest_child(const struct box_layout *layout, const struct flame_tree *tree,
				 uint32_t box);

#endif
