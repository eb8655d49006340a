/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of a loaded measurement a range of time leaves: "10-20", "FILE:10-20". */
#ifndef STACKTALLY_RUN_RANGED_H
#define STACKTALLY_RUN_RANGED_H

#include "plan/range.h"
#include "report/report.h"
#include "tally/timeline_part.h"

/*
 * The path in "PATH:10-20", allocated, whose range it parses. A file that has the whole text for
 * its name is meant itself. NULL: out of memory.
 */
char *ranged_path(const char *text, struct plan_range *ret_range);

/*
 * The range as a span of the measurement's timeline that begins and ends with its slices, and
 * what each entry counted in it, allocated. `name` is the file's in messages. 0, or a negative
 * errno with `err` set: the file does not tell when, or nothing was counted in the range.
 */
int ranged_counts(const struct measurement *measurement, const struct plan_range *range,
		  const char *name, struct timeline_span *ret_span,
		  struct timeline_count **ret_counts, struct error *err);

#endif
