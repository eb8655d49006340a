/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel and user stack of an entry as one list, with marks where frames are missing: for
 * formats that have one stack per sample.
 */
#ifndef STACKTALLY_VIEW_STACK_LIST_H
#define STACKTALLY_VIEW_STACK_LIST_H

#include <stdint.h>

#include "view/profile.h"

/* Marks; a list holds profile->n_frames + MARK for each. */
enum stack_mark {
	STACK_MARK_TRUNCATED,
	STACK_MARK_MISSED_USER,
	STACK_MARK_MISSED_KERNEL,
	STACK_MARK_NONE, /* the entry has no stack: a list is never empty */
	STACK_N_MARKS,
};

#define STACK_LIST_MAX (2 * PROFILE_MAX_FRAMES + STACK_N_MARKS)

/* Fills the list, leaf first, with frame indices and marks. Returns their number, at least 1. */
uint32_t stack_list(const struct profile *profile, const struct tally_entry *entry,
		    uint32_t ret_list[STACK_LIST_MAX]);

/* The text of a mark: a string constant. */
const char *stack_mark_text(enum stack_mark mark);
/* The mark of that text, or STACK_N_MARKS. */
enum stack_mark stack_mark_of(const char *text, size_t size);

/* Whether the CPU was in the kernel: the leaf is a kernel frame. */
static inline bool stack_in_kernel(const struct tally_entry *entry)
{
	return entry->kernel != TALLY_STACK_NONE;
}

#endif
