/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of a flame graph: the stacks of a profile merged from their roots. Pure data, made once
 * and then only read; snapshots of a running measurement are trees that are added, subtracted or
 * compared, and boxes keep their identity through all of them. Must not know: formats, pixels.
 *
 * Nodes stand in preorder, siblings in the order of flame_frames_compare(), so that a tree is
 * walked by counting:
 *
 *	children of i:  for (c = i + 1; c < nodes[i].end; c = nodes[c].end)
 *
 * and what lies left of a node among its siblings is the sum of their totals. The path of a stack
 * is: the whole, who ran it, the user's frames from the root, the kernel's.
 */
#ifndef STACKTALLY_FLAME_FLAME_TREE_H
#define STACKTALLY_FLAME_FLAME_TREE_H

#include <stdint.h>

#include "flame/flame_frames.h"
#include "view/profile.h"
#include "view/report_options.h"

struct flame_node {
	uint64_t id;	/* a hash of the path: the same in every tree of every measurement */
	uint64_t self;	/* samples that ended here */
	uint64_t total; /* and those of all stacks through here, the parts left out too */
	uint64_t base_self, base_total; /* the same of what it is compared with; else 0 */
	uint32_t frame;			/* in the table of frames */
	uint32_t end;			/* the first node that is not below this one */
	uint32_t parent;		/* of the root: itself */
	uint32_t depth;			/* of the root: 0 */
};

struct flame_tree {
	struct flame_node *nodes; /* nodes[0] is the root; never NULL in a tree that was made */
	uint32_t n_nodes;
	uint32_t max_depth;
	uint64_t minimum;  /* nodes with a smaller total (and base_total) were left out; >= 1 */
	uint64_t left_out; /* how many */
};

/* What tells apart who ran a stack: the boxes above the root. */
enum flame_who {
	FLAME_WHO_NONE,
	FLAME_WHO_COMM,	   /* "comm" */
	FLAME_WHO_PROCESS, /* "comm", a box for each tgid */
	FLAME_WHO_THREAD,  /* a box for each tgid and tid */
};

struct flame_options {
	enum flame_who who;
	bool cgroup;	    /* a box for the cgroup below that */
	bool lines;	    /* file:line belongs to a frame */
	uint64_t minimum;   /* leave out nodes with a smaller total; 0 and 1: none */
	uint32_t max_nodes; /* raise the minimum until no more are left; 0: FLAME_MAX_NODES */
};

#define FLAME_MAX_NODES 4000000u /* 56 bytes each */

/* PROFILE_VIEW_* of the profile that flame_tree_build() wants for these options. */
uint32_t flame_tree_view(const struct flame_options *options);

/* What the options of a report say of its flame graphs. */
struct flame_options flame_tree_options(const struct report_options *report);
/* And which side of the stacks they leave out: also PROFILE_VIEW_*. */
uint32_t flame_tree_sides(const struct report_options *report);

/*
 * The tree of a profile; `frames` gets what is new in it. Memory beyond the tree: 40 bytes for an
 * entry, and little for a frame. 0 or a negative errno.
 */
int flame_tree_build(struct flame_frames *frames, const struct profile *profile,
		     const struct flame_options *options, struct flame_tree *ret_tree);

enum flame_merge {
	FLAME_ADD,	/* the sums of both */
	FLAME_SUBTRACT, /* what a has more than b; nodes that come to nothing go */
	FLAME_COMPARE,	/* the counts of a, and those of b as their base; nodes of either stay */
};

/* The two trees of one table of frames as one; they are left as they are. 0 or -ENOMEM. */
int flame_tree_merge(const struct flame_frames *frames, const struct flame_tree *a,
		     const struct flame_tree *b, enum flame_merge how, struct flame_tree *ret_tree);

/* A copy without the nodes whose total and base_total are both below `minimum`. 0 or -ENOMEM. */
int flame_tree_prune(const struct flame_tree *tree, uint64_t minimum, struct flame_tree *ret_tree);

void flame_tree_clear(struct flame_tree *tree);

#endif
