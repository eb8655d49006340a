/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sorted list of mappings that do not overlap: the content of one image. Shared by images that
 * are equal (a child's and its parent's) and copied when one of them changes.
 */
#ifndef STACKTALLY_PROCESS_MAPPINGS_H
#define STACKTALLY_PROCESS_MAPPINGS_H

#include "process/images.h"

#define MAX_MAPPINGS 32768u /* of one process: what comes after is not kept */

struct mapping_list {
	uint32_t references;
	uint32_t n, room;
	struct mapping at[];
};

/* Takes `n` mappings, ascending and not overlapping. NULL: no memory. */
struct mapping_list *mappings_new(const struct mapping *mappings, uint32_t n);
struct mapping_list *mappings_share(struct mapping_list *list);
void mappings_release(struct mapping_list *list);

const struct mapping *mappings_find(const struct mapping_list *list, uint64_t address);
/* How many of the addresses are in a mapping. */
uint32_t mappings_cover(const struct mapping_list *list, const uint64_t *addresses, uint32_t n);

/* An address in both means the same thing in both, and they may be one. */
bool mapping_agrees(const struct mapping *a, const struct mapping *b);

/* True if the mapping would replace one that means something else. */
bool mappings_conflict(const struct mapping_list *list, const struct mapping *mapping);

/*
 * Adds a mapping; what it overlaps is cut, or united with it where they agree. A shared
 * list is left alone and *list becomes a copy. 0, or, *list being as before, 1: there are
 * MAX_MAPPINGS already, or -ENOMEM.
 */
int mappings_add(struct mapping_list **list, const struct mapping *mapping);

#endif
