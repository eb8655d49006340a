/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The account of how user stacks ended: how many are complete, and where and why the others are
 * not. Made from a tally and its names, live or from a recording. Must not know: formats.
 */
#ifndef STACKTALLY_VIEW_ENDS_H
#define STACKTALLY_VIEW_ENDS_H

#include <stdint.h>

#include "tally/names.h"
#include "tally/tally.h"

#define ENDS_TOP 8 /* places that are told of */

/* Walks that ended for one reason in one function. Strings belong to the names. */
struct ends_place {
	uint64_t count; /* samples */
	enum tally_end end;
	const char *module, *function; /* or NULL */
};

struct ends {
	uint64_t samples; /* with a user stack whose end is known */
	uint64_t complete;
	uint64_t assumed; /* complete or not, by way of TALLY_STACK_ASSUMED */
	uint64_t by_end[TALLY_N_ENDS];
	struct ends_place top[ENDS_TOP]; /* of those that are not complete, the most first */
	uint32_t n_top;
};

/* 0 or -ENOMEM. */
int ends_of(const struct tally *tally, const struct names *names, struct ends *ret_ends);

#endif
