/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples of a profile one by one, each with a time, for formats that show single samples.
 *
 * The times are those of the measurement's timeline: the samples of a thread are spread over the
 * slice of time in which they were counted, as its bins tell the events of all threads. Where there
 * is no timeline, the samples of each stack are spread evenly over the measurement, so that readers
 * by time see no phases that never were.
 *
 * What is written for a sample is a record. Beyond a bound each record stands for several samples.
 */
#ifndef STACKTALLY_VIEW_TIMED_SAMPLES_H
#define STACKTALLY_VIEW_TIMED_SAMPLES_H

#include "tally/timeline.h"
#include "view/profile.h"

struct timed_samples {
	const struct profile *profile;
	const struct timeline *timeline; /* or NULL: it is not known when */
	uint64_t each;			 /* samples that a record stands for */
	uint64_t records;
};

/*
 * At most `most` records. The profile has `entry_of` and threads apart. `timeline` may be NULL, and
 * is used if it tells all of the tally. Both are borrowed.
 */
struct timed_samples timed_samples_of(const struct profile *profile,
				      const struct timeline *timeline, const struct tally *tally,
				      uint64_t most);

/* A record of an entry of the profile, `at` in seconds since the start; they ascend. */
typedef int timed_samples_put(void *context, uint32_t entry, double at);

/* Calls `put` for each record, until it fails. 0 or a negative errno. */
int timed_samples_each(const struct timed_samples *samples, timed_samples_put *put, void *context);

#endif
