/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rate of events over time, in bins of 20 ms, for the page's heat map. The tally says how often
 * each stack was seen in a second but not when within it, so a thread reads the event counter every
 * 20 ms and keeps the differences.
 */
#ifndef STACKTALLY_LIVE_ACTIVITY_H
#define STACKTALLY_LIVE_ACTIVITY_H

#include <stdint.h>

#define ACTIVITY_BIN_MS 20
#define ACTIVITY_BINS	(50 * 1800) /* bins kept: those of the last 1800 seconds */

struct activity;

/*
 * Starts the thread. It calls `events`, which returns how many events there were since `start_ns`
 * (CLOCK_MONOTONIC); `context` must outlive the thread. 0 or a negative errno.
 */
int activity_start(uint64_t (*events)(void *context), void *context, uint64_t start_ns,
		   struct activity **ret_activity);
/* Joins the thread and frees `activity`, which may be NULL. */
void activity_stop(struct activity *activity);

/*
 * Copies up to `n` completed bins from number `first` on, or from the oldest kept if that is later;
 * bin 0 begins at `start_ns`. Returns how many were copied, and in `ret_first` the number of the
 * first. Any thread may call it.
 */
uint32_t activity_read(struct activity *activity, uint64_t first, uint32_t *ret_bins, uint32_t n,
		       uint64_t *ret_first);

#endif
