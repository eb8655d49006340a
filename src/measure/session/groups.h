/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cgroups that are measured, as --cgroup, --service, --container and --pod choose them: which
 * there are, and which come later. The BPF programs choose what is made below a chosen one, and
 * forget what is removed. Must not know: events, stacks.
 */
#ifndef STACKTALLY_SESSION_GROUPS_H
#define STACKTALLY_SESSION_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "process/images.h"
#include "tally/cgroup_filter.h"

struct groups;

/*
 * Fills the map of chosen cgroups, a descriptor. All arguments are borrowed. 0, or a negative
 * errno: there is none, and without wildcards none is waited for.
 */
int groups_open(const struct cgroup_filter *filter, struct images *images, int map,
		struct groups **ret_groups, struct error *err);
void groups_close(struct groups *groups);

/*
 * Looks for cgroups that came since, if the number of changes is another one than before. To be
 * called ten times a second.
 */
void groups_follow(struct groups *groups, uint64_t changes);

/* What happened to the chosen ones, for a message; false: nothing. */
bool groups_describe(const struct groups *groups, uint64_t lost, char *ret_text, size_t size);

#endif
