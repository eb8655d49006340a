/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list of mappings, ascending and not overlapping: the content of a process image. It is shared
 * by images that are equal (those of parent and child after a fork), by counting references, and
 * copied on write.
 */
#ifndef STACKTALLY_PROCESS_MAPPINGS_H
#define STACKTALLY_PROCESS_MAPPINGS_H

#include "process/images.h"

#define MAX_MAPPINGS 32768u /* of one image; more are not kept, and counted */

struct mapping_list {
	uint32_t references;
	uint32_t n, capacity;
	struct mapping at[];
};

/* Copies `n` mappings, ascending and not overlapping. NULL: no memory. */
struct mapping_list *mappings_new(const struct mapping *mappings, uint32_t n);

/* Takes a reference, or gives one back; the last frees the list. NULL is released harmlessly. */
struct mapping_list *mappings_share(struct mapping_list *list);
void mappings_release(struct mapping_list *list);

/* The mapping that contains the address, or NULL. */
const struct mapping *mappings_find(const struct mapping_list *list, uint64_t address);

/* How many of the addresses are in a mapping. */
uint32_t mappings_cover(const struct mapping_list *list, const uint64_t *addresses, uint32_t n);

/* True if the mapping overlaps one that has other code at some address. */
bool mappings_conflict(const struct mapping_list *list, const struct mapping *mapping);

/*
 * Adds a mapping: overlapping ones are cut, or merged with it where they agree. If the list is
 * shared, *list becomes a copy first. 0; 1: there are MAX_MAPPINGS already, or -ENOMEM, and *list
 * is unchanged.
 */
int mappings_add(struct mapping_list **list, const struct mapping *mapping);

#endif
