/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of a flame graph that only grows. Nodes and frames keep their numbers, so a client
 * receives each of them once and from then on counts by number. Each entry of the tally is mapped
 * to the node in which its path ends.
 *
 * Paths are made by flame/flame_paths.h. A path for which there are no nodes left ends in the
 * deepest node it reaches, which then has the entry's count. Not locked.
 */
#ifndef STACKTALLY_LIVE_TREE_H
#define STACKTALLY_LIVE_TREE_H

#include "base/index.h"
#include "flame/flame_tree.h"

/* Of entries that the filter leaves out. */
#define TREE_NO_NODE UINT32_MAX

struct tree_node {
	uint32_t parent; /* a smaller number; the root, node 0, is its own parent */
	uint32_t frame;	 /* a number in the table of frames */
	uint64_t self;	 /* samples that ended here, since the start; kept by the caller */
};

struct tree {
	struct flame_options options;
	uint32_t sides; /* PROFILE_VIEW_* flags of the stacks that are left out */
	const struct frame_filter *filter; /* what else is; borrowed, or NULL */
	struct flame_frames *frames;
	struct tree_node *nodes;
	uint32_t n_nodes, capacity, max_nodes;
	struct index index;
	/* Of each entry of the tally: the node in which its path ends, or TREE_NO_NODE. */
	uint32_t *leaf_of;
	uint32_t n_entries, leaf_capacity;
	uint64_t n_shortened; /* entries whose path ends early for want of nodes */
};

/*
 * An empty tree for the report's options, of at most `max_nodes`. Processes have nodes of their
 * own; once half of the nodes are in use, tree_grow() makes those of the same name share one. 0 or
 * -ENOMEM; tree_clear() is due in both cases.
 */
int tree_make(struct tree *tree, const struct report_options *report, uint32_t max_nodes);
bool tree_shares_processes(const struct tree *tree); /* whether tree_grow() does that now */
void tree_clear(struct tree *tree);

/*
 * Adds paths for the entries of the tally that are new since the last call. The tally must be the
 * same one in each call, and `names` must have all of its addresses. 0 or a negative errno; the
 * next call then tries the same entries again.
 */
int tree_grow(struct tree *tree, const struct tally *tally, const struct names *names);

#endif
