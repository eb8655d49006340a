/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings of intervals that followed each other, as one measurement. */
#ifndef STACKTALLY_RUN_MERGED_H
#define STACKTALLY_RUN_MERGED_H

#include "report/report.h"
#include "tally/names.h"
#include "tally/timeline.h"

struct merged {
	struct tally *tally; /* owned, as names and timeline are */
	struct names *names;
	struct timeline timeline;
	struct tally_losses losses; /* of all */
	struct profile_meta meta; /* of the first, whose strings the names have; the times of all */
};

/*
 * Adds a measurement that is later than those before it, and of the same kind. 0 or -ENOMEM.
 * `merged` is all 0 before the first; merged_clear() is due.
 */
int merged_add(struct merged *merged, const struct measurement *measurement);
void merged_clear(struct merged *merged);

#endif
