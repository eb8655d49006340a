/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When something happened within a second: a thread that looks at a count of events every 20 ms.
 * The counts of the kernel side say how often a stack was seen, not when.
 */
#ifndef STACKTALLY_LIVE_ACTIVITY_H
#define STACKTALLY_LIVE_ACTIVITY_H

#include <stdint.h>

#define ACTIVITY_BIN_MS 20
#define ACTIVITY_BINS	(50 * 1800) /* that are kept */

struct activity;

/* `events` counts on from the moment `start_ns` of CLOCK_MONOTONIC; it is called by the thread. */
int activity_start(uint64_t (*events)(void *context), void *context, uint64_t start_ns,
		   struct activity **ret_activity);
void activity_stop(struct activity *activity);

/*
 * The bins from number `first` on that are over, or from the oldest one that is kept; bin 0 begins
 * with the measurement. Gives at most `n`; returns how many, and the number of the first in
 * `ret_first`.
 */
uint32_t activity_read(struct activity *activity, uint64_t first, uint32_t *ret_bins, uint32_t n,
		       uint64_t *ret_first);

#endif
