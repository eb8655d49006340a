/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A part of a tally and of its names: the entries of some processes, and of their stacks what is
 * asked for. The part holds nothing else: no stack, address, file or cgroup of other entries.
 */
#ifndef STACKTALLY_TALLY_SELECTION_H
#define STACKTALLY_TALLY_SELECTION_H

#include <stdbool.h>

#include "base/id_list.h"
#include "tally/cgroup_filter.h"
#include "tally/names.h"
#include "tally/tally.h"
#include "tally/timeline.h"

/* All given conditions must hold, of a list any element. Everything is borrowed. */
struct selection {
	struct id_list tgids, tids;
	const char *name; /* the comm, with the wildcards of glob(7); or NULL */
	struct cgroup_filter groups;
	bool no_user, no_kernel; /* leave out these stacks */
	bool no_inlined;	 /* leave out frames of inlined functions */
	uint32_t depth;		 /* most frames of a stack, from the innermost on; 0: all */
	const struct timeline_count *counts; /* of each entry, in place of its own; 0 leaves it out;
					      * or NULL */
};

/* Whether the selection would leave anything out. */
bool selection_is_all(const struct selection *selection);

#define SELECTION_LEFT_OUT UINT32_MAX

/*
 * Fills both results, which are empty, and each loss is taken over: it may have been of any entry.
 * `ret_entry_of`, which may be NULL, has room for a number for each entry of the tally, and gets
 * its number in the result, or SELECTION_LEFT_OUT. 0 or a negative errno.
 */
int selection_make(const struct selection *selection, const struct tally *tally,
		   const struct names *names, struct tally *ret_tally, struct names *ret_names,
		   uint32_t *ret_entry_of);

#endif
