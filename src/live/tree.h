/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A tree of boxes that only grows: a node keeps its number, so that those who watch are told of it
 * once, and later of its number alone. Each entry of the tally ends in one node.
 *
 * Boxes and paths are those of report/flame_tree.h. What finds no room any more is counted in the
 * deepest node on its path that has some.
 */
#ifndef STACKTALLY_LIVE_TREE_H
#define STACKTALLY_LIVE_TREE_H

#include "base/index.h"
#include "flame/flame_tree.h"

struct tree_node {
	uint32_t parent; /* a smaller number; of the root, 0: itself */
	uint32_t frame;	 /* in the table of frames */
	uint64_t self;	 /* samples that ended here, since the start */
};

struct tree {
	struct flame_options options;
	uint32_t sides; /* of the stacks that are left out: PROFILE_VIEW_* */
	struct flame_frames *frames;
	struct tree_node *nodes; /* nodes[0] is the root */
	uint32_t n_nodes, room, max_nodes;
	struct index index;
	uint32_t *leaf_of; /* the node of each entry */
	uint32_t n_entries, leaf_room;
	uint64_t n_shortened; /* entries that found no room for all of their path */
};

/*
 * For the report's options, with processes told apart as long as there is plenty of room. 0 or
 * -ENOMEM; tree_clear() is due in both cases.
 */
int tree_make(struct tree *tree, const struct report_options *report, uint32_t max_nodes);
void tree_clear(struct tree *tree);

/*
 * Takes in the entries of the tally that are new since the last call; all their addresses have
 * names. 0 or a negative errno.
 */
int tree_grow(struct tree *tree, const struct tally *tally, const struct names *names);

#endif
