/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples of a profile in the order of time, as far as a timeline tells it. In which order a
 * thread took the samples of one slice is not known: those come first whose functions are like the
 * ones in the slice before, and last those like the ones in the slice behind, so that a change from
 * one function to another shows as one change.
 */
#ifndef STACKTALLY_VIEW_SAMPLE_ORDER_H
#define STACKTALLY_VIEW_SAMPLE_ORDER_H

#include <stdint.h>

#include "tally/timeline.h"
#include "view/profile.h"

/* Samples of one slice. */
struct sample_run {
	uint64_t count;
	uint32_t entry; /* of the profile */
	uint32_t place; /* of the entry, if all are sorted by thread and functions */
	int64_t late;	/* how much more its functions are like those behind than those before */
};

struct sample_runs {
	struct sample_run *list; /* thread by thread; see above */
	uint32_t n, capacity;
};

struct sample_order;

/* Borrows both; the profile has `entry_of`, and the timeline tells all of it. 0 or -ENOMEM. */
int sample_order_new(const struct profile *profile, const struct timeline *timeline,
		     struct sample_order **ret_order);
void sample_order_free(struct sample_order *order);

/* The samples of the next slice, ascending; NULL behind the last one. Valid until the next call. */
int sample_order_next(struct sample_order *order, const struct sample_runs **ret_runs);

#endif
