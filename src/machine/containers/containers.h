/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of containers and pods, by the cgroups that they run in: from what their runtimes keep
 * on disk (Docker, containerd, CRI-O, Podman as root and of users) and from the kubelet's
 * directories of logs. No runtime and no server is asked. What was found is kept: containers come
 * and go.
 *
 * The files are looked for in our own root and in that of process 1, which is another one where
 * this process is in a container itself. They are opened when a container is first met, and read
 * by confined children when several wait or a name is asked for. A file counts if its owner is the
 * one whose container it is: root, or the user who owns the cgroup. A user's cgroup with the id of
 * a container of root has no id.
 *
 * Used by one thread at a time. Must not know: processes.
 */
#ifndef STACKTALLY_CONTAINERS_CONTAINERS_H
#define STACKTALLY_CONTAINERS_CONTAINERS_H

#include "confined/confined.h"
#include "files/roots.h"
#include "tally/cgroup_path.h"
#include "tally/names.h"

struct containers;

/* All are borrowed. 0 or -ENOMEM. */
int containers_new(struct roots *roots, struct file_opener *opener, struct confined *readers,
		   struct containers **ret_containers);
void containers_free(struct containers *containers);

struct container;

/*
 * The container or pod of a cgroup, by its path and the owner of the cgroup at `path->size`; NULL
 * if it is of none. It lives as long as `containers`. 0 or -ENOMEM.
 */
int containers_learn(struct containers *containers, const struct cgroup_path *path, uid_t owner,
		     struct container **ret_container);

/* Whether to learn it again: files did not respond half a minute ago. */
bool containers_is_due(const struct container *container);

/* What is known of it by now: no more than NAMES_MAX_LABELS, borrowed until the next call. */
const struct names_label *containers_labels(struct containers *containers,
					    const struct container *container, uint32_t *ret_n);

/* How many have no names by now because files did not respond. */
uint32_t containers_n_late(const struct containers *containers);

#endif
