/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of a flame graph: the stacks of a profile merged from their roots. A tree does not
 * change once it is made. Snapshots of a running measurement are trees that can be added,
 * subtracted and compared. Must not know: formats, pixels.
 *
 * Nodes are in preorder, siblings in the order of flame_frames_compare():
 *
 *	children of i:  for (c = i + 1; c < nodes[i].end; c = nodes[c].end)
 *
 * The path of a stack is: the root, the process, the user frames from the root on, the kernel
 * frames.
 */
#ifndef STACKTALLY_FLAME_FLAME_TREE_H
#define STACKTALLY_FLAME_FLAME_TREE_H

#include <stdint.h>

#include "flame/flame_frames.h"
#include "view/profile.h"
#include "view/report_options.h"

struct flame_node {
	uint64_t id;	/* a hash of the path: the same in every tree of every measurement */
	uint64_t self;	/* samples of stacks that end here */
	uint64_t total; /* samples of all stacks through here, including nodes left out */
	uint64_t base_self, base_total; /* the same of the tree it is compared with, or 0 */
	uint32_t frame;			/* its number in the table of frames */
	uint32_t end;			/* the first node that is not below this one */
	uint32_t parent;		/* the root is its own parent */
	uint32_t depth;			/* 0 for the root */
};

struct flame_tree {
	struct flame_node *nodes; /* nodes[0] is the root */
	uint32_t n_nodes;
	uint32_t max_depth;
	uint64_t minimum;  /* nodes with a smaller total (and base_total) were left out; >= 1 */
	uint64_t left_out; /* the number of those nodes */
	/*
	 * If the options say so, of each entry of the profile: the node that its stack ends in, or
	 * with FLAME_LEFT_OUT the nearest one that was not left out. Trees made of two have none.
	 */
	uint32_t *leaf_of;
	uint32_t n_leaves;
};

#define FLAME_LEFT_OUT (1u << 31) /* nodes are numbered below */

/* The boxes between the root and the stacks. */
enum flame_who {
	FLAME_WHO_NONE,
	FLAME_WHO_COMM,	   /* "comm" */
	FLAME_WHO_PROCESS, /* "comm", a box for each tgid */
	FLAME_WHO_THREAD,  /* a box for each tgid and tid */
};

struct flame_options {
	enum flame_who who;
	bool cgroup;	    /* a box for the cgroup above those */
	bool lines;	    /* file:line is part of a frame */
	bool leaves;	    /* fill leaf_of */
	uint64_t minimum;   /* leave out nodes with a smaller total; 0 and 1: none */
	uint32_t max_nodes; /* raise the minimum until no more are left; 0: FLAME_MAX_NODES */
};

#define FLAME_MAX_NODES 4000000u /* 56 bytes each */

/* The PROFILE_VIEW_* flags of the profile that flame_tree_build() needs for these options. */
uint32_t flame_tree_view(const struct flame_options *options);

/* The options of flame graphs that follow from those of a report. */
struct flame_options flame_tree_options(const struct report_options *report);

/*
 * The tree of a profile; new frames are added to `frames`. Needs 40 bytes for each entry besides
 * the tree. 0 or a negative errno.
 */
int flame_tree_build(struct flame_frames *frames, const struct profile *profile,
		     const struct flame_options *options, struct flame_tree *ret_tree);

enum flame_merge {
	FLAME_ADD,	/* the sums of both */
	FLAME_SUBTRACT, /* a minus b, at least 0; nodes whose total is then 0 are left out */
	FLAME_COMPARE,	/* the counts of a, with those of b as base; all nodes of both */
};

/* Merges two trees of one table of frames into a third. 0 or -ENOMEM. */
int flame_tree_merge(const struct flame_frames *frames, const struct flame_tree *a,
		     const struct flame_tree *b, enum flame_merge how, struct flame_tree *ret_tree);

/* A copy without the nodes whose total and base_total are both below `minimum`. 0 or -ENOMEM. */
int flame_tree_prune(const struct flame_tree *tree, uint64_t minimum, struct flame_tree *ret_tree);

void flame_tree_clear(struct flame_tree *tree);

#endif
