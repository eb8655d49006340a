/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The paths of cgroups (v2) by the kernel's ids. A path is looked up when its id is first met,
 * while the cgroup exists, and kept: containers come and go. So are the names of the container that
 * a cgroup belongs to (containers.h).
 *
 * Used by one thread at a time. Must not know: which processes are in them.
 */
#ifndef STACKTALLY_PROCESS_CGROUPS_H
#define STACKTALLY_PROCESS_CGROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "containers/containers.h"
#include "tally/names.h"

struct cgroups;

/*
 * The mount point of the hierarchy (v2): of the first mount of all of it, else of the first of a
 * part. The caller frees it; NULL if there is none.
 */
char *cgroups_mount_point(void);

/*
 * The cgroups whose path ends with `name`, a name or some of them, or whose own name has it as a
 * part, as those of containers have an id: up to three, with commas, below the mount point. Returns
 * how many there are, 0 also if they cannot be walked.
 */
uint32_t cgroups_named(const char *name, char *ret_text, size_t size);

/* `containers` is borrowed. 0 or -ENOMEM. */
int cgroups_new(struct containers *containers, struct cgroups **ret_cgroups);
void cgroups_free(struct cgroups *cgroups);

/*
 * Looks the id and its container up unless that was done before. 0, also when it is not found; or
 * -ENOMEM.
 */
int cgroups_learn(struct cgroups *cgroups, uint64_t id);

/*
 * Looks up all that there are now, with `names` their containers, too. Gives their ids, each before
 * those below it, which the caller frees. 0 or -ENOMEM.
 */
int cgroups_walk(struct cgroups *cgroups, bool names, uint64_t **ret_ids, uint32_t *ret_n);

/*
 * The cgroup with its path below the mount point of the hierarchy, "/" for its root, and the labels
 * of its container; NULL if the id was not learned or not found: the cgroup was removed, or is
 * outside of our cgroup namespace. Valid as long as `cgroups`, its labels until the next call.
 */
const struct names_cgroup *cgroups_get(struct cgroups *cgroups, uint64_t id);

#endif
