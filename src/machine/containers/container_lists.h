/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lists that Podman and CRI-O keep of all containers, each read once and again when its file
 * has changed: many containers are looked up in one list.
 */
#ifndef STACKTALLY_CONTAINERS_CONTAINER_LISTS_H
#define STACKTALLY_CONTAINERS_CONTAINER_LISTS_H

#include "containers/container_files.h"

#define CONTAINER_LISTS 16u /* that are kept */

struct container_list;

/* All zero at first. */
struct container_lists {
	struct container_list *at[CONTAINER_LISTS];
	uint32_t n, oldest;
};

void container_lists_clear(struct container_lists *lists);

/*
 * The first element of the list whose id, or one of whose names, is the given text; the other is
 * NULL. *ret_listed is NULL if there is none, or no list, and valid until the next call. 0 or
 * -EAGAIN: the list could not be read now (container_files.h).
 */
int container_lists_find(struct container_lists *lists, const struct container_access *access,
			 const struct container_place *place, const char *id, const char *name,
			 const struct container_listed **ret_listed);

#endif
