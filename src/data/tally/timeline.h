/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a tally was counted: how much each of its entries grew in each slice of the time. Plain
 * data. Slices in which nothing was counted are not stored, and those between two of them neither.
 *
 * The number of rows is bounded: beyond it neighbouring slices become one, so that times are
 * coarser and no count is lost. A timeline whose entries alone are too many is given up: it is then
 * empty, and timeline_tells() is false.
 *
 * Used by one thread at a time. Times are ns since the start of the measurement.
 */
#ifndef STACKTALLY_TALLY_TIMELINE_H
#define STACKTALLY_TALLY_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "tally/bins.h"
#include "tally/tally.h"

#define TIMELINE_ROWS 1000000u /* 16 MB */

struct timeline_row {
	uint64_t count;
	uint32_t entry;	 /* of the tally */
	uint32_t events; /* as in struct tally_entry; UINT32_MAX: that or more */
};

/* Of an entry, or of a part of it. */
struct timeline_count {
	uint64_t count, events;
};

struct timeline_slice {
	uint64_t begin_ns, end_ns;
	uint32_t first, n; /* its rows, ascending by entry; n > 0 */
};

/* To be initialized with `width_ns` and `most_rows`, the rest 0. */
struct timeline {
	uint64_t width_ns;  /* up to which neighbouring slices become one if there are too many */
	uint32_t most_rows; /* TIMELINE_ROWS, but for tests */
	uint64_t begin_ns;  /* of the interval */
	uint64_t noted_ns;  /* up to when all is noted */
	bool given_up;
	struct timeline_slice *slices; /* ascending, apart from one another */
	uint32_t n_slices, slice_capacity;
	struct timeline_row *rows;
	uint32_t n_rows, row_capacity;
	struct timeline_count *seen; /* of the entries, when they were noted */
	uint32_t n_seen, seen_capacity;
	struct bins bins; /* of the same time, from begin_ns on; none if width_ns is 0 */
};

/* Notes what was counted since the last time. If memory is short, the timeline is given up. */
void timeline_note(struct timeline *timeline, const struct tally *tally, uint64_t now_ns);

/* The tally was cleared: begins again, at the time that was noted last, without bins. */
void timeline_begin(struct timeline *timeline);

/* Whether all counts of the tally are in it, and there are any. */
bool timeline_tells(const struct timeline *timeline, const struct tally *tally);

/*
 * Adds a slice behind those that there are; its rows follow with timeline_add_row(), ascending by
 * entry. 0, -ENOMEM, or -EINVAL if it is not behind them, or the row not behind the one before.
 */
int timeline_add_slice(struct timeline *timeline, uint64_t begin_ns, uint64_t end_ns);
int timeline_add_row(struct timeline *timeline, struct timeline_row row);

/* Makes slices longer if there are too many rows; to be called behind a whole slice. */
void timeline_fit(struct timeline *timeline);

/* Adds what another row of the same entry counted. */
void timeline_row_add(struct timeline_row *to, const struct timeline_row *row);

/* The length of the longest slice. */
uint64_t timeline_longest_ns(const struct timeline *timeline);

void timeline_clear(struct timeline *timeline);

#endif
