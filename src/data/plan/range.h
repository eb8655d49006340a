/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A part of the time of a measurement, as users write it: "10-20", "90-", "-5". */
#ifndef STACKTALLY_PLAN_RANGE_H
#define STACKTALLY_PLAN_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/* ns since the begin of the measurement. */
struct plan_range {
	bool given;
	uint64_t begin_ns, end_ns; /* UINT64_MAX: up to its end */
};

/*
 * Parses seconds, with decimals if need be. NULL, or what is wrong with the text; then `ret_range`
 * is unchanged.
 */
const char *plan_range_parse(const char *text, struct plan_range *ret_range);

/*
 * The size of the path in "PATH:10-20", whose range it parses; the size of the whole text if that
 * is a path alone.
 */
uint64_t plan_range_split(const char *text, struct plan_range *ret_range);

#endif
