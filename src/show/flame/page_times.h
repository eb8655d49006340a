/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of a page's data that tells when: what each node of the tree counted in each second, and
 * how many events there were in each bin. Internal to flame/; page.h has the format.
 */
#ifndef STACKTALLY_FLAME_PAGE_TIMES_H
#define STACKTALLY_FLAME_PAGE_TIMES_H

#include "base/bytes.h"
#include "flame/flame_tree.h"
#include "tally/timeline.h"

/*
 * Appends it. The tree has `leaf_of`, and is of the profile, which has `entry_of`. 0 or a negative
 * errno.
 */
int page_times(const struct timeline *timeline, const struct profile *profile,
	       const struct flame_tree *tree, struct bytes *bytes);

#endif
