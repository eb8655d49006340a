/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The positions and widths of the boxes of a tree, in samples, to be scaled to any width. In a
 * comparison a box is as wide as the larger of both sides, so vanished functions stay visible.
 * Must not know: formats, pixels.
 */
#ifndef STACKTALLY_FLAME_FLAME_LAYOUT_H
#define STACKTALLY_FLAME_FLAME_LAYOUT_H

#include "flame/flame_tree.h"

struct flame_box {
	double x, width; /* in samples of the tree (not of its base) */
};

struct flame_layout {
	struct flame_box *boxes; /* for each node */
	double base_scale;	 /* samples of the tree that equal one sample of the base */
};

/* `scale`: samples of the tree that equal one sample of the base. 0 or -ENOMEM. */
int flame_layout_make(const struct flame_tree *tree, double scale, struct flame_layout *ret_layout);
void flame_layout_clear(struct flame_layout *layout);

/*
 * The tree of a profile, compared with the profile's base if it has one, for the writers of flame
 * graphs. 0 or a negative errno.
 */
int flame_layout_tree(struct flame_frames *frames, const struct profile *profile,
		      const struct flame_options *options, struct flame_tree *ret_tree);

#endif
