/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of containers and pods, by the cgroups that they run in: from what their runtimes keep
 * on disk (Docker, containerd, CRI-O, Podman as root and of users) and from the kubelet's
 * directories of logs. No runtime and no server is asked. What was found is kept: containers come
 * and go.
 *
 * The files are looked for in our own root and in that of process 1, which is another one where
 * this process is in a container itself. They are read by confined children. A file counts if its
 * owner is the one whose container it is, root or the user in whose slice the cgroup is.
 *
 * Used by one thread at a time. Must not know: processes.
 */
#ifndef STACKTALLY_CONTAINERS_CONTAINERS_H
#define STACKTALLY_CONTAINERS_CONTAINERS_H

#include "confined/confined.h"
#include "files/roots.h"
#include "tally/names.h"

struct containers;

/* All are borrowed. 0 or -ENOMEM. */
int containers_new(struct roots *roots, struct file_opener *opener, struct confined *readers,
		   struct containers **ret_containers);
void containers_free(struct containers *containers);

/*
 * Sets the labels of a cgroup from its path: none if it is of no container, or if nothing tells its
 * names. They live as long as `containers`. 0; 1: files did not respond, so that a later call may
 * set more; or -ENOMEM. Files are asked again after half a minute, other calls cost little.
 */
int containers_learn(struct containers *containers, struct names_cgroup *cgroup);

/* How many have no names by now because files did not respond. */
uint32_t containers_n_late(const struct containers *containers);

#endif
