/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A search for the names of one container or pod, in the files that its runtime keeps. It goes from
 * file to file; the caller reads those that name this container alone, so that files of several
 * containers are read at once.
 *
 * Used by one thread at a time. Must not know: what is known of containers already.
 */
#ifndef STACKTALLY_CONTAINERS_CONTAINER_SEARCH_H
#define STACKTALLY_CONTAINERS_CONTAINER_SEARCH_H

#include <limits.h>

#include "containers/container_files.h"
#include "containers/container_lists.h"

/* What all searches share. All zero at first but for `access` and `first_root`. */
struct container_sources {
	struct container_access access;
	struct container_lists lists;
	uint32_t first_root; /* that of process 1; ROOT_OWN: it is ours; ROOT_UNKNOWN at first */
	uid_t home_owner;    /* whose data `data` leads to; 0: none's */
	char data[PATH_MAX / 4];
};

struct container_search {
	struct cgroup_path path;
	uid_t owner;		      /* whose container it is, by the owner of its cgroup */
	uint32_t n_roots, step;	      /* how far it has gone */
	bool late;		      /* a file did not respond */
	struct container_texts texts; /* what was found */
};

/* Begins it. Only the files of this owner count. */
void container_search_begin(const struct cgroup_path *path, uid_t owner,
			    struct container_search *ret_search);

/*
 * Goes on. 1: a file was opened, which is the caller's to read into the texts and to close; then
 * the search goes on. 0: it has ended.
 */
int container_search_next(struct container_sources *sources, struct container_search *search,
			  struct container_reading *ret_reading);

/* Whether the container has a name by now. */
bool container_search_found(const struct container_search *search);

/*
 * Whether the id of the container is its own. That of a user's cgroup is not, if root has a
 * container of this id: users call their cgroups as they like.
 */
bool container_search_owns_id(struct container_sources *sources,
			      const struct container_search *search);

#endif
