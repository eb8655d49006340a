/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the boxes of a tree lie: x in samples, so that any width can be made of it. In a
 * comparison a box is as wide as the larger of both sides, and what vanished is still there. Must
 * not know: formats, pixels.
 */
#ifndef STACKTALLY_FLAME_FLAME_LAYOUT_H
#define STACKTALLY_FLAME_FLAME_LAYOUT_H

#include "flame/flame_tree.h"

struct flame_box {
	double x, width; /* in samples of the tree (not of its base) */
};

struct flame_layout {
	struct flame_box *boxes; /* for each node */
	double base_scale;	 /* samples of the tree that one of the base is worth */
};

/* `shares`: both sides count for the same in all; else counts are compared. 0 or -ENOMEM. */
int flame_layout_make(const struct flame_tree *tree, bool shares, struct flame_layout *ret_layout);
void flame_layout_clear(struct flame_layout *layout);

/*
 * The tree of a profile for a report, compared with the profile's base if it has one: for all
 * writers of pictures. 0 or a negative errno.
 */
int flame_layout_tree(struct flame_frames *frames, const struct profile *profile,
		      const struct flame_options *options, struct flame_tree *ret_tree);

#endif
