/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entries of a profile grouped by process or thread, the busiest first.
 */
#ifndef STACKTALLY_VIEW_ENTRY_GROUPS_H
#define STACKTALLY_VIEW_ENTRY_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "view/profile.h"

struct entry_group {
	uint32_t first, n; /* in `order` */
	uint64_t total;
	const struct tally_entry *heaviest; /* gives the group its comm and ids */
};

struct entry_groups {
	struct entry_group *list;
	uint32_t n;
	uint32_t *order; /* entry indices, group after group */
};

/* 0 or -ENOMEM; call entry_groups_clear() in both cases. */
int entry_groups_make(struct entry_groups *groups, const struct profile *profile, bool per_thread);
/* All entries of `groups`, in their order, as one group. 0 or -ENOMEM; clear it in both cases. */
int entry_groups_one(struct entry_groups *one, const struct entry_groups *groups);
void entry_groups_clear(struct entry_groups *groups);

#endif
