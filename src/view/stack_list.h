/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stack of an entry as one list, both sides of it, with marks where frames are not there: what
 * formats need that know one kind of stack only.
 */
#ifndef STACKTALLY_VIEW_STACK_LIST_H
#define STACKTALLY_VIEW_STACK_LIST_H

#include <stdint.h>

#include "view/profile.h"

/* In a list, profile->n_frames + mark stands for one of these. */
enum stack_mark {
	STACK_MARK_TRUNCATED,
	STACK_MARK_MISSED_USER,
	STACK_MARK_MISSED_KERNEL,
	STACK_MARK_NONE, /* an entry without any stack: a list is never empty */
	STACK_N_MARKS,
};

#define STACK_LIST_MAX (2 * PROFILE_MAX_FRAMES + STACK_N_MARKS)

/* Fills the list, leaf first; returns how many there are, at least 1. */
uint32_t stack_list(const struct profile *profile, const struct profile_entry *entry,
		    uint32_t ret_list[STACK_LIST_MAX]);

const char *stack_mark_text(enum stack_mark mark);
/* The mark that reads like this; STACK_N_MARKS: none does. */
enum stack_mark stack_mark_of(const char *text, size_t size);

/* Whether the leaf is the kernel's: what the CPU was in. */
static inline bool stack_in_kernel(const struct profile_entry *entry)
{
	return entry->n_kernel > 0 || entry->kernel_missed;
}

#endif
