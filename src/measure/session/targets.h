/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of what was chosen to be measured: the processes of -p and the threads of -L end, and a
 * cgroup is removed and made again when its service restarts. Must not know: events, stacks.
 */
#ifndef STACKTALLY_SESSION_TARGETS_H
#define STACKTALLY_SESSION_TARGETS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "plan/plan.h"

struct targets;

/*
 * Fills the BPF programs' filter by cgroup. `tgids` and `cgroup_map` are the descriptors of their
 * maps, borrowed as `plan` is. 0, or a negative errno: there is no such cgroup.
 */
int targets_open(const struct plan *plan, int tgids, int cgroup_map, struct targets **ret_targets,
		 struct error *err);
void targets_close(struct targets *targets);

/*
 * Whether all chosen processes, or all chosen threads, have ended; with --children, also all that
 * they forked. False if none were chosen. NULL is allowed.
 */
bool targets_ended(struct targets *targets);

/* Measures the cgroup that has the chosen path now. To be called ten times a second. */
void targets_follow_cgroup(struct targets *targets);

/* What happened to the chosen ones, for a message; false: nothing. */
bool targets_describe(const struct targets *targets, char *ret_text, size_t size);

#endif
