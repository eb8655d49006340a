/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The paths of cgroups (v2) by the kernel's ids. A path is looked up when its id is first met,
 * while the cgroup exists, and kept: containers come and go.
 *
 * Used by one thread at a time. Must not know: which processes are in them.
 */
#ifndef STACKTALLY_PROCESS_CGROUPS_H
#define STACKTALLY_PROCESS_CGROUPS_H

#include <stddef.h>
#include <stdint.h>

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

/* 0 or -ENOMEM. */
int cgroups_new(struct cgroups **ret_cgroups);
void cgroups_free(struct cgroups *cgroups);

/*
 * Looks the id up unless that was done before. Gives the cgroup if its path is known and its labels
 * are not, so that they can be set; else NULL. 0, also when it is not found; or -ENOMEM.
 */
int cgroups_learn(struct cgroups *cgroups, uint64_t id, struct names_cgroup **ret_unnamed);

/* All labels of a cgroup that was found are set. */
void cgroups_labelled(struct cgroups *cgroups, uint64_t id);

/* Looks up all that there are now, and visits each, before those below it. 0 or -ENOMEM. */
int cgroups_walk(struct cgroups *cgroups, void (*visit)(void *context, uint64_t id), void *context);

/*
 * The cgroup with its path below the mount point of the hierarchy, "/" for its root; NULL if the id
 * was not learned or not found: the cgroup was removed, or is outside of our cgroup namespace.
 * Valid as long as `cgroups`.
 */
const struct names_cgroup *cgroups_get(const struct cgroups *cgroups, uint64_t id);

#endif
