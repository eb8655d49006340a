/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many events there were in bins of equal length, whatever their stacks: finer than a timeline,
 * whose slices have stacks. Plain data. The number of bins is bounded: beyond it pairs of
 * neighbours become one, and no event is lost.
 *
 * Used by one thread at a time. Times are ns since the begin of the first bin.
 */
#ifndef STACKTALLY_TALLY_BINS_H
#define STACKTALLY_TALLY_BINS_H

#include <stdint.h>

#define BINS_MOST 180000u /* an hour of bins of 20 ms */

/* To be initialized with `width_ns` and `most`, the rest 0. */
struct bins {
	uint64_t width_ns; /* 0: there are none */
	uint32_t most;	   /* BINS_MOST, but for tests; at least 2 */
	uint32_t *counts;  /* UINT32_MAX: that or more */
	uint32_t n, capacity;
};

/* Adds events to the bin of a time, and empty bins before it. 0 or -ENOMEM. */
int bins_add(struct bins *bins, uint64_t at_ns, uint64_t count);
/* The bins from `begin_ns` to `end_ns`, into an empty `ret_part`. 0 or -ENOMEM. */
int bins_part(const struct bins *bins, uint64_t begin_ns, uint64_t end_ns, struct bins *ret_part);
/* ns since the begin of the first bin. */
struct bins_span {
	uint64_t begin_ns, end_ns;
};

/*
 * The time, in ns, at which `part` (0 to 1) of the events in the span had been; without bins, or
 * events there, that part of the span.
 */
double bins_time(const struct bins *bins, struct bins_span span, double part);
void bins_clear(struct bins *bins);

#endif
