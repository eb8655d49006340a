// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/timeline_part.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

/* A slice in ns since the begin of the timeline. */
static struct timeline_span of_slice(const struct timeline *timeline,
				     const struct timeline_slice *slice)
{
	return (struct timeline_span){ slice->begin_ns - timeline->begin_ns,
				       slice->end_ns - timeline->begin_ns };
}

static bool is_in(struct timeline_span slice, struct timeline_span span)
{
	uint64_t middle = slice.begin_ns + (slice.end_ns - slice.begin_ns) / 2;

	return middle >= span.begin_ns && middle < span.end_ns;
}

struct timeline_span timeline_span(const struct timeline *timeline, struct timeline_span span)
{
	struct timeline_span moved = span;

	for (uint32_t i = 0; i < timeline->n_slices; i++) {
		struct timeline_span slice = of_slice(timeline, &timeline->slices[i]);
		bool in = is_in(slice, span);

		if (slice.begin_ns < span.begin_ns && slice.end_ns > span.begin_ns)
			moved.begin_ns = in ? slice.begin_ns : slice.end_ns;
		if (slice.begin_ns < span.end_ns && slice.end_ns > span.end_ns)
			moved.end_ns = in ? slice.end_ns : slice.begin_ns;
	}
	return moved;
}

static void add_slice_counts(const struct timeline *timeline, const struct timeline_slice *slice,
			     struct timeline_count *counts)
{
	for (uint32_t i = slice->first; i < slice->first + slice->n; i++) {
		const struct timeline_row *row = &timeline->rows[i];

		counts[row->entry].count += row->count;
		counts[row->entry].events += row->events;
	}
}

void timeline_counts(const struct timeline *timeline, struct timeline_span span,
		     struct timeline_count *counts)
{
	for (uint32_t i = 0; i < timeline->n_slices; i++)
		if (is_in(of_slice(timeline, &timeline->slices[i]), span))
			add_slice_counts(timeline, &timeline->slices[i], counts);
}

static int by_entry(const void *a, const void *b)
{
	const struct timeline_row *one = a, *other = b;

	return one->entry < other->entry ? -1 : one->entry > other->entry;
}

/* Appends the rows of a slice under their new numbers, of which several may be the same. */
static int add_rows(struct timeline *part, const struct timeline_row *rows, uint32_t n,
		    const uint32_t *entry_of)
{
	uint32_t first = part->n_rows, kept = part->n_rows;
	int r = grow(&part->rows, &part->row_capacity, (size_t)first + n);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < n; i++)
		if (entry_of[rows[i].entry] != TIMELINE_NO_ENTRY)
			part->rows[part->n_rows++] =
				(struct timeline_row){ rows[i].count, entry_of[rows[i].entry],
						       rows[i].events };
	if (part->n_rows > first)
		qsort(part->rows + first, part->n_rows - first, sizeof(*part->rows), by_entry);
	for (uint32_t i = first; i < part->n_rows; i++) {
		if (kept > first && part->rows[kept - 1].entry == part->rows[i].entry)
			timeline_row_add(&part->rows[kept - 1], &part->rows[i]);
		else
			part->rows[kept++] = part->rows[i];
	}
	part->n_rows = kept;
	return 0;
}

static int add_slice(struct timeline *part, struct timeline_span slice, uint32_t first)
{
	int r = grow(&part->slices, &part->slice_capacity, (size_t)part->n_slices + 1);

	if (r < 0)
		return r;
	part->slices[part->n_slices++] = (struct timeline_slice){ slice.begin_ns, slice.end_ns,
								  first, part->n_rows - first };
	return 0;
}

int timeline_part(const struct timeline *timeline, struct timeline_span span,
		  const uint32_t *entry_of, uint32_t n_entries, struct timeline *ret_part)
{
	struct timeline *part = ret_part;
	int r = 0;

	*part = (struct timeline){ .width_ns = timeline->width_ns,
				   .most_rows = timeline->most_rows,
				   .n_seen = n_entries };
	for (uint32_t i = 0; r == 0 && i < timeline->n_slices; i++) {
		const struct timeline_slice *from = &timeline->slices[i];
		struct timeline_span slice = of_slice(timeline, from);
		uint32_t first = part->n_rows;

		if (!is_in(slice, span))
			continue;
		slice.begin_ns -= span.begin_ns;
		slice.end_ns -= span.begin_ns;
		r = add_rows(part, timeline->rows + from->first, from->n, entry_of);
		if (r == 0 && part->n_rows > first)
			r = add_slice(part, slice, first);
	}
	return r < 0 ? r : bins_part(&timeline->bins, span.begin_ns, span.end_ns, &part->bins);
}
