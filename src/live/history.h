/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last so many looks at a running measurement, a second each: which entries of a tally counted
 * how much in it. A ring of bounded length and size; the oldest go first. Knows no names.
 */
#ifndef STACKTALLY_LIVE_HISTORY_H
#define STACKTALLY_LIVE_HISTORY_H

#include "tally/tally.h"

struct history_count {
	uint32_t entry;
	uint32_t count; /* what does not fit goes on in another one */
};

struct second {
	uint64_t tick;	/* its number, from 1 */
	uint64_t at_ns; /* its end, since the start */
	uint64_t ns;	/* how long it was */
	uint64_t samples;
	struct tally_losses losses;
	struct history_count *counts;
	uint32_t n_counts, room;
};

struct history {
	struct second *ring;
	uint32_t max, first, n;
	size_t bytes, max_bytes;
};

/* 0 or -ENOMEM. */
int history_make(struct history *history, uint32_t max_seconds, size_t max_bytes);
void history_clear(struct history *history);

/* Adds to a second that is being made. 0 or -ENOMEM. */
int second_add(struct second *second, uint32_t entry, uint64_t count);

/* Takes it over as the newest. Its number is given here: the one after the newest. */
void history_push(struct history *history, struct second *second);

/* The newest number; 0 when there was none. */
uint64_t history_newest(const struct history *history);
/* The oldest one that is kept; more than the newest when none is. */
uint64_t history_oldest(const struct history *history);
/* The second of this number, or NULL. */
const struct second *history_get(const struct history *history, uint64_t tick);

#endif
