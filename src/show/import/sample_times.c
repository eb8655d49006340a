// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/sample_times.h"

#include <stdlib.h>

#include "base/grow.h"

#define WIDTH_NS 1000000 /* of slices: finer than what is sampled usually */

int sample_times_add(struct sample_times *times, const struct sample_time *sample)
{
	int r;

	if (times->n == SAMPLE_TIMES_MAX || times->too_many) {
		times->too_many = true;
		return 0;
	}
	r = grow(&times->list, &times->capacity, (size_t)times->n + 1);
	if (r == 0)
		times->list[times->n++] = *sample;
	return r;
}

void sample_times_clear(struct sample_times *times)
{
	free(times->list);
	*times = (struct sample_times){ 0 };
}

static int by_time(const void *a, const void *b)
{
	const struct sample_time *one = a, *other = b;

	if (one->at_ns != other->at_ns)
		return one->at_ns < other->at_ns ? -1 : 1;
	return one->entry < other->entry ? -1 : one->entry > other->entry;
}

static int by_entry(const void *a, const void *b)
{
	const struct sample_time *one = a, *other = b;

	return one->entry < other->entry ? -1 : one->entry > other->entry;
}

/* Adds a slice of `n` samples. */
static int add_slice(struct sample_time *samples, uint32_t n, uint64_t begin_ns,
		     struct timeline *timeline)
{
	int r = timeline_add_slice(timeline, begin_ns, begin_ns + WIDTH_NS);

	qsort(samples, n, sizeof(*samples), by_entry);
	for (uint32_t i = 0; r == 0 && i < n;) {
		struct timeline_row row = { samples[i].count, samples[i].entry, samples[i].events };

		for (i++; i < n && samples[i].entry == row.entry; i++) {
			const struct timeline_row more = { samples[i].count, row.entry,
							   samples[i].events };

			timeline_row_add(&row, &more);
		}
		r = timeline_add_row(timeline, row);
	}
	return r;
}

int sample_times_make(struct sample_times *times, uint64_t start_ns, uint32_t n_entries,
		      struct timeline *ret_timeline)
{
	int r = 0;

	*ret_timeline = (struct timeline){ .width_ns = WIDTH_NS, .most_rows = TIMELINE_ROWS };
	if (times->too_many || times->n == 0)
		return 0;
	for (uint32_t i = 0; i < times->n; i++) {
		uint64_t at_ns = times->list[i].at_ns;

		times->list[i].at_ns = at_ns > start_ns ? at_ns - start_ns : 0;
	}
	qsort(times->list, times->n, sizeof(*times->list), by_time);
	for (uint32_t i = 0, first = 0; r == 0 && i < times->n; first = i) {
		uint64_t slice = times->list[first].at_ns / WIDTH_NS;

		while (i < times->n && times->list[i].at_ns / WIDTH_NS == slice)
			i++;
		r = add_slice(times->list + first, i - first, slice * WIDTH_NS, ret_timeline);
		if (r == 0)
			timeline_fit(ret_timeline);
	}
	ret_timeline->n_seen = n_entries;
	return r;
}
