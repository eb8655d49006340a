/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When the samples of an imported file were taken, in any order; they become the timeline of its
 * tally. Their number is bounded: beyond it there is no timeline.
 */
#ifndef STACKTALLY_IMPORT_SAMPLE_TIMES_H
#define STACKTALLY_IMPORT_SAMPLE_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "tally/timeline.h"

#define SAMPLE_TIMES_MAX ((uint32_t)1 << 24) /* 400 MB */

struct sample_time {
	uint64_t at_ns; /* since 1970 */
	uint64_t count;
	uint32_t entry;
	uint32_t events; /* as in struct tally_entry */
};

struct sample_times {
	struct sample_time *list;
	uint32_t n, capacity;
	bool too_many;
};

/* 0 or -ENOMEM. */
int sample_times_add(struct sample_times *times, const struct sample_time *sample);
void sample_times_clear(struct sample_times *times);

/*
 * The timeline of all samples, since `start_ns`: what is before that is at its begin. An empty one
 * if there were too many. 0 or -ENOMEM. Sorts the samples.
 */
int sample_times_make(struct sample_times *times, uint64_t start_ns, uint32_t n_entries,
		      struct timeline *ret_timeline);

#endif
