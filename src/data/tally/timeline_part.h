/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A part of the time of a timeline: its slices whose middle is in that time, so that each slice is
 * in one of two parts that meet.
 */
#ifndef STACKTALLY_TALLY_TIMELINE_PART_H
#define STACKTALLY_TALLY_TIMELINE_PART_H

#include "tally/timeline.h"

/* ns since timeline->begin_ns. */
struct timeline_span {
	uint64_t begin_ns, end_ns;
};

/* The span, moved to where the slices at its ends begin and end. */
struct timeline_span timeline_span(const struct timeline *timeline, struct timeline_span span);

/* Adds what was counted in the span to that of each entry. */
void timeline_counts(const struct timeline *timeline, struct timeline_span span,
		     struct timeline_count *counts);

/* An entry that is not in the part. */
#define TIMELINE_NO_ENTRY UINT32_MAX

/*
 * The span as a timeline of its own that begins at 0, of a tally with `n_entries` whose entries
 * have the numbers that entry_of[] says for ours. 0 or -ENOMEM; timeline_clear() is due in both
 * cases.
 */
int timeline_part(const struct timeline *timeline, struct timeline_span span,
		  const uint32_t *entry_of, uint32_t n_entries, struct timeline *ret_part);

#endif
