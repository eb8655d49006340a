/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statistics of user stacks: how many are complete, and why and in which functions the walks of
 * the others ended. Must not know: formats.
 */
#ifndef STACKTALLY_VIEW_ENDS_H
#define STACKTALLY_VIEW_ENDS_H

#include <stdint.h>

#include "tally/names.h"
#include "tally/scripts.h"
#include "tally/tally.h"

#define ENDS_TOP 8 /* places that reports list */

/* The walks that ended for one reason in one function. Strings are the names'. */
struct ends_place {
	uint64_t count; /* samples */
	enum tally_end end;
	const char *module, *function; /* or NULL */
};

struct ends {
	uint64_t samples; /* with a user stack that was walked */
	uint64_t complete;
	uint64_t assumed; /* of stacks with TALLY_STACK_ASSUMED, complete or not */
	uint64_t by_end[TALLY_N_ENDS];
	uint64_t programs; /* with functions of interpreted programs, or frames in place of these */
	uint64_t by_reason[SCRIPT_N_REASONS]; /* with a frame that says why */
	struct ends_place top[ENDS_TOP];      /* of incomplete stacks, most frequent first */
	uint32_t n_top;
};

/* 0 or -ENOMEM. */
int ends_of(const struct tally *tally, const struct names *names, struct ends *ret_ends);

#endif
