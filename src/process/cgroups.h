/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the cgroups (v2) of the kernel's ids are in the cgroup file system. A path is looked up at
 * the first sight of an id, while the cgroup is still there, and kept: containers come and go.
 *
 * Must not know: who runs in them.
 */
#ifndef STACKTALLY_PROCESS_CGROUPS_H
#define STACKTALLY_PROCESS_CGROUPS_H

#include <stdint.h>

struct cgroups;

int cgroups_new(struct cgroups **ret_cgroups);
void cgroups_free(struct cgroups *cgroups);

/* Looks the id up unless that was done. 0, also when it leads to nothing, or -ENOMEM. */
int cgroups_learn(struct cgroups *cgroups, uint64_t id);

/*
 * The path below the mount point, "/" for the root; or NULL: not learned, gone before it was,
 * outside of what we see. Lives as long as `cgroups`.
 */
const char *cgroups_path(const struct cgroups *cgroups, uint64_t id);

#endif
