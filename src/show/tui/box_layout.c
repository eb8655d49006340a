// SPDX-License-Identifier: GPL-2.0-or-later
#include "tui/box_layout.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/own.h"
#include "base/partition.h"

void box_layout_clear(struct box_layout *layout)
{
	free(layout->boxes);
	*layout = (struct box_layout){ 0 };
}

static int add(struct box_layout *layout, struct layout_box box)
{
	int r = grow(&layout->boxes, &layout->capacity, (size_t)layout->n + 1);

	if (r < 0)
		return r;
	layout->boxes[layout->n++] = box;
	if (box.row + 1 > layout->n_rows)
		layout->n_rows = box.row + 1;
	return 0;
}

static uint32_t scale(uint64_t value, uint64_t whole, uint32_t columns)
{
	return (uint32_t)((unsigned __int128)value * columns / whole);
}

static int add_ancestors(struct box_layout *layout, const struct flame_tree *tree, uint32_t zoom,
			 uint32_t columns)
{
	uint32_t depth = tree->nodes[zoom].depth, node = zoom;

	for (uint32_t row = 0; row < depth; row++) {
		int r = add(layout, (struct layout_box){ 0, row, 0, columns });

		if (r < 0)
			return r;
	}
	for (uint32_t row = depth; row-- > 0;) {
		node = tree->nodes[node].parent;
		layout->boxes[row].node = node;
	}
	return 0;
}

/*
 * Walks the nodes in preorder. `next` has, for each depth below `zoom`, where the next node begins,
 * in samples.
 */
static int add_descendants(struct box_layout *layout, const struct flame_tree *tree, uint32_t zoom,
			   uint32_t columns)
{
	uint32_t top = tree->nodes[zoom].depth, end = tree->nodes[zoom].end;
	uint64_t whole = tree->nodes[zoom].total;
	own(own_free) uint64_t *next = calloc(tree->max_depth + 3, sizeof(*next));
	uint32_t i = zoom;

	if (!next)
		return -ENOMEM;
	while (i < end) {
		const struct flame_node *node = &tree->nodes[i];
		uint64_t start = next[node->depth - top];
		uint32_t from = whole ? scale(start, whole, columns) : 0;
		uint32_t to = whole ? scale(start + node->total, whole, columns) : columns;
		int r;

		next[node->depth - top] = start + node->total;
		next[node->depth - top + 1] = start;
		if (to > columns) /* the children have more samples than their parent */
			to = columns;
		if (from >= to) {
			i = node->end;
			continue;
		}
		r = add(layout, (struct layout_box){ i, node->depth, from, to - from });
		if (r < 0)
			return r;
		i++;
	}
	return 0;
}

int box_layout_make(struct box_layout *layout, const struct flame_tree *tree, uint32_t zoom,
		    uint32_t columns)
{
	int r;

	layout->n = 0;
	layout->n_rows = 0;
	r = add_ancestors(layout, tree, zoom, columns);
	return r < 0 ? r : add_descendants(layout, tree, zoom, columns);
}

uint32_t box_layout_find(const struct box_layout *layout, uint32_t node)
{
	size_t at = partition_point(i, layout->n, layout->boxes[i].node < node);

	return at < layout->n && layout->boxes[at].node == node ? (uint32_t)at : BOX_NONE;
}

uint32_t box_layout_find_near(const struct box_layout *layout, const struct flame_tree *tree,
			      uint32_t node)
{
	uint32_t box = box_layout_find(layout, node);

	while (box == BOX_NONE && node != 0) {
		node = tree->nodes[node].parent;
		box = box_layout_find(layout, node);
	}
	return box;
}

uint32_t box_layout_beside(const struct box_layout *layout, uint32_t box, int step)
{
	uint32_t row = layout->boxes[box].row;

	for (uint32_t i = box + (uint32_t)step; i < layout->n; i += (uint32_t)step) {
		if (layout->boxes[i].row == row)
			return i;
	}
	return BOX_NONE;
}

uint32_t box_layout_widest_child(const struct box_layout *layout, const struct flame_tree *tree,
				 uint32_t box)
{
	uint32_t parent = layout->boxes[box].node, end = tree->nodes[parent].end;
	uint32_t best = BOX_NONE;
	uint64_t most = 0;

	for (uint32_t i = box + 1; i < layout->n && layout->boxes[i].node < end; i++) {
		uint32_t node = layout->boxes[i].node;

		if (tree->nodes[node].parent == parent && tree->nodes[node].total > most) {
			most = tree->nodes[node].total;
			best = i;
		}
	}
	return best;
}
