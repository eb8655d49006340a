/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What counts are of, and how they are shown: samples, events, or time, which is counted in ns; or
 * what another program counted, in its unit.
 */
#ifndef STACKTALLY_VIEW_QUANTITY_H
#define STACKTALLY_VIEW_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "view/profile.h"

/* "1,234,567,890 samples" */
#define QUANTITY_SIZE 64

/* Whether counts are shown as times. */
bool quantity_is_time(const struct profile_meta *meta);

/*
 * "samples", or "events" for stackcount, which counts each of them, or "ns": readers of pages and
 * of JSON then show a time. For other programs' counts their unit
 * ("bytes"), or what they are of ("contentions"); "counts" if that is no plain word, "sum" of a
 * sum.
 */
const char *quantity_unit(const struct profile_meta *meta);
/* The same behind a count: "sample" where it is one. */
void quantity_put_unit(struct bytes *bytes, const struct profile_meta *meta, uint64_t count);

/*
 * What another program counted ("alloc_space"), or of what counts are sums ("bytes_req"), where the
 * unit does not say it; or NULL.
 */
const char *quantity_measure(const struct profile_meta *meta);

/* What counts that are times add up: "off the CPU". */
const char *quantity_time_of(const struct profile_meta *meta);

/* The number that text and folded stacks have: microseconds of a time, rounded. */
uint64_t quantity_number(const struct profile_meta *meta, uint64_t count);

/* The unit of that number: "samples", "events", "us". */
const char *quantity_number_unit(const struct profile_meta *meta);

/* The same of a number of events, which is one of samples, or of ns, where there are no sums. */
uint64_t quantity_event_number(const struct profile_meta *meta, uint64_t events);

/* For readers: "1,234 samples", "1.234 s", "56.7 ms". Text without characters to escape. */
void quantity_text(const struct profile_meta *meta, uint64_t count, char ret_text[QUANTITY_SIZE]);
void quantity_put(struct bytes *bytes, const struct profile_meta *meta, uint64_t count);

/*
 * What counts are sums of, where they are: "events", or "calls" that are timed, or "blocks" of
 * memory; without its last letter for one.
 */
const char *quantity_events(const struct profile_meta *meta);

/* What has to come before there is anything to show: "samples", "absences", "calls", "events". */
const char *quantity_awaited(const struct profile_meta *meta);

/* What an amount is of: " off the CPU", " of alloc_space", " outstanding"; nothing for counts. */
void quantity_put_of(struct bytes *bytes, const struct profile_meta *meta);

/*
 * Of how many counts are the sum, behind that: " of 1,234 events", " of 30 calls", " in 1 block";
 * nothing where they are no sums. The digits in groups, or as programs read them.
 */
void quantity_put_events(struct bytes *bytes, const struct profile_meta *meta, uint64_t events,
			 bool in_groups);

/* The same, but numbers of samples and events have no unit: "1,234"; times keep theirs: "1.234 s".
 */
void quantity_put_bare(struct bytes *bytes, const struct profile_meta *meta, uint64_t count);

#endif
