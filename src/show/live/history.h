/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last seconds of a measurement: how much each entry of the tally counted in each of them. A
 * ring with bounds on its length and its memory; the oldest seconds are evicted first. Not locked.
 */
#ifndef STACKTALLY_LIVE_HISTORY_H
#define STACKTALLY_LIVE_HISTORY_H

#include "tally/tally.h"

struct history_count {
	uint32_t entry;	 /* its number in the tally */
	uint32_t events; /* of how many the count is the sum; 0: it is none */
	uint64_t count;
};

/* The time between two updates of the tally, which is about a second. */
struct second {
	uint64_t tick;	/* its number, from 1 */
	uint64_t at_ns; /* its end, since the start of the measurement */
	uint64_t ns;	/* its length */
	uint64_t samples;
	struct tally_losses losses; /* in this second */
	struct history_count *counts;
	uint32_t n_counts, capacity;
};

struct history {
	struct second *ring;
	uint32_t max, first, n;	 /* in seconds */
	size_t bytes, max_bytes; /* of all counts */
};

/*
 * An empty history of at most `max_seconds` (1 or more), whose counts take at most `max_bytes`; the
 * newest second is kept even if it alone takes more. 0 or -ENOMEM.
 */
int history_make(struct history *history, uint32_t max_seconds, size_t max_bytes);
void history_clear(struct history *history);

/*
 * Adds a count, and of how many events it is the sum, to a second that is not in the history yet. 0
 * or -ENOMEM.
 */
int second_add(struct second *second, uint32_t entry, uint64_t count, uint64_t events);

/*
 * Moves the second into the history as its newest, numbers it, and leaves `second` empty; cannot
 * fail.
 */
void history_push(struct history *history, struct second *second);

/* The number of the newest second; 0 when there was none. */
uint64_t history_newest(const struct history *history);
/* The number of the oldest second that is kept; history_newest() + 1 when none is. */
uint64_t history_oldest(const struct history *history);
/* The second of this number, or NULL when it is not kept. Valid until the next history_push(). */
const struct second *history_get(const struct history *history, uint64_t tick);

#endif
