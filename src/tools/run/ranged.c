// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/ranged.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/duration.h"
#include "base/own.h"

char *ranged_path(const char *text, struct plan_range *ret_range)
{
	struct plan_range range = { 0 };
	uint64_t size = access(text, F_OK) == 0 ? strlen(text) : plan_range_split(text, &range);

	if (range.given)
		*ret_range = range;
	return strndup(text, size);
}

static int refuse_empty(const struct measurement *measurement, const struct plan_range *range,
			const char *name, struct error *err)
{
	uint64_t duration = measurement->meta->duration_ns;
	uint64_t width = timeline_longest_ns(measurement->timeline);
	char begin[DURATION_SIZE], end[DURATION_SIZE], whole[DURATION_SIZE], step[DURATION_SIZE];

	duration_text(range->begin_ns, begin, sizeof(begin));
	duration_text(duration, whole, sizeof(whole));
	duration_text(width, step, sizeof(step));
	if (range->begin_ns >= duration)
		return error_set(err, -EINVAL, "%s lasts %s: nothing of it is from %s on", name,
				 whole, begin);
	if (range->end_ns < duration)
		duration_text(range->end_ns, end, sizeof(end));
	else
		snprintf(end, sizeof(end), "its end");
	return error_set(err, -EINVAL,
			 "%s has nothing that was counted from %s to %s: it lasts %s, and tells "
			 "times to within %s",
			 name, begin, end, whole, step);
}

int ranged_counts(const struct measurement *measurement, const struct plan_range *range,
		  const char *name, struct timeline_span *ret_span,
		  struct timeline_count **ret_counts, struct error *err)
{
	const struct timeline *timeline = measurement->timeline;
	struct timeline_span span = { range->begin_ns, range->end_ns };
	uint32_t n = tally_n_entries(measurement->tally);
	own(own_free) struct timeline_count *counts = NULL;
	uint64_t total = 0;

	if (!timeline || timeline->n_slices == 0)
		return error_set(err, -EINVAL,
				 "%s does not tell when it was counted: no range of time can be "
				 "taken from it",
				 name);
	counts = calloc((size_t)n + 1, sizeof(*counts));
	if (!counts)
		return error_set(err, -ENOMEM, "out of memory");
	timeline_counts(timeline, span, counts);
	for (uint32_t i = 0; i < n; i++)
		total += counts[i].count + counts[i].events;
	if (total == 0)
		return refuse_empty(measurement, range, name, err);
	span = timeline_span(timeline, span);
	if (span.end_ns > measurement->meta->duration_ns)
		span.end_ns = measurement->meta->duration_ns;
	*ret_span = span;
	*ret_counts = take_ptr(counts);
	return 0;
}
