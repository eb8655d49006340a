/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of a profile and, where it has a base, of that: how much was counted in each
 * (self), and in it and what it called (total, in which recursion counts once).
 *
 * Time that a thread was off its CPU is given to the innermost function of the program
 * (entry_parts.h): it is the one that waits. So is an event of stackcount, which is itself on top
 * of all stacks. Frames of wakers are no part of what they woke.
 *
 * Functions are told apart by name and file, as processes and runs have addresses of their own.
 * The profile and its base need PROFILE_VIEW_MODULE and PROFILE_VIEW_OBJECT. Must not know:
 * formats.
 */
#ifndef STACKTALLY_VIEW_FUNCTION_LIST_H
#define STACKTALLY_VIEW_FUNCTION_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/own.h"
#include "view/profile.h"

struct function_row {
	const struct names_frame *is; /* of the profile or, if it vanished, of its base */
	const struct profile *of;     /* the one whose objects `is` refers to */
	uint64_t self, total;
	uint64_t events;		/* that the total is the sum of; 0 unless counts are sums */
	uint64_t base_self, base_total; /* scaled to compare with them */
	uint64_t within; /* the counts of all processes that have the function on a stack */
};

struct function_list {
	struct function_row *rows;
	uint32_t n;
};

enum function_order {
	FUNCTIONS_BY_SELF,
	FUNCTIONS_BY_TOTAL,
	FUNCTIONS_BY_SELF_CHANGE, /* the largest first, whether more or less */
	FUNCTIONS_BY_TOTAL_CHANGE,
	FUNCTIONS_BY_NAME,
};

/* In no order. 0 or -ENOMEM. */
int function_list_make(const struct profile *profile, struct function_list *ret_list);
void function_list_clear(struct function_list *list);

void function_list_sort(struct function_list *list, enum function_order order);

/* The file that has the function: of a script, the program, or the library; NULL: not known. */
const char *function_row_file(const struct function_row *row);

#endif
