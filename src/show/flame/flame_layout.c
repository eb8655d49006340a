// SPDX-License-Identifier: GPL-2.0-or-later
#include "flame/flame_layout.h"

#include <errno.h>
#include <stdlib.h>

#include "base/own.h"

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/*
 * Computes widths from the leaves up. Samples of a node that are in none of its children (its own,
 * and those of children that were left out) add the larger of both sides.
 */
static void widths(const struct flame_tree *tree, double scale, struct flame_box *boxes)
{
	for (uint32_t i = tree->n_nodes; i-- > 0;) {
		const struct flame_node *node = &tree->nodes[i];
		double rest = (double)node->total, base_rest = (double)node->base_total;
		double width = 0;

		for (uint32_t c = i + 1; c < node->end; c = tree->nodes[c].end) {
			rest -= (double)tree->nodes[c].total;
			base_rest -= (double)tree->nodes[c].base_total;
			width += boxes[c].width;
		}
		boxes[i].width = width + larger(larger(rest, 0), larger(base_rest, 0) * scale);
	}
}

int flame_layout_make(const struct flame_tree *tree, double scale, struct flame_layout *ret_layout)
{
	own(own_free) double *next = reallocarray(NULL, (size_t)tree->max_depth + 2, sizeof(*next));
	struct flame_box *boxes = reallocarray(NULL, tree->n_nodes, sizeof(*boxes));

	if (!boxes || !next) {
		free(boxes);
		return -ENOMEM;
	}
	widths(tree, scale, boxes);
	next[0] = 0;
	for (uint32_t i = 0; i < tree->n_nodes; i++) {
		uint32_t depth = tree->nodes[i].depth;

		boxes[i].x = next[depth];
		next[depth] += boxes[i].width;
		next[depth + 1] = boxes[i].x;
	}
	*ret_layout = (struct flame_layout){ .boxes = boxes, .base_scale = scale };
	return 0;
}

void flame_layout_clear(struct flame_layout *layout)
{
	if (!layout)
		return;
	free(layout->boxes);
	*layout = (struct flame_layout){ 0 };
}

int flame_layout_tree(struct flame_frames *frames, const struct profile *profile,
		      const struct flame_options *options, struct flame_tree *ret_tree)
{
	struct flame_tree now = { 0 }, base = { 0 };
	int r = flame_tree_build(frames, profile, options, &now);

	if (r == 0 && profile->base) {
		r = flame_tree_build(frames, profile->base, options, &base);
		if (r == 0)
			r = flame_tree_merge(frames, &now, &base, FLAME_COMPARE, ret_tree);
	} else if (r == 0) {
		*ret_tree = now;
		now = (struct flame_tree){ 0 };
	}
	flame_tree_clear(&now);
	flame_tree_clear(&base);
	return r;
}
