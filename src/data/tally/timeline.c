// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/timeline.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/own.h"

/* Slices of a day are as good as none. */
#define WIDTH_MAX_NS (24ull * 3600 * 1000000000)

static void drop(struct timeline *timeline)
{
	free(timeline->slices);
	free(timeline->rows);
	free(timeline->seen);
	timeline->slices = NULL;
	timeline->rows = NULL;
	timeline->seen = NULL;
	timeline->n_slices = timeline->n_rows = timeline->n_seen = 0;
	timeline->slice_capacity = timeline->row_capacity = timeline->seen_capacity = 0;
}

static void give_up(struct timeline *timeline)
{
	drop(timeline);
	timeline->given_up = true;
}

void timeline_row_add(struct timeline_row *to, const struct timeline_row *row)
{
	to->count += row->count;
	to->events = row->events > UINT32_MAX - to->events ? UINT32_MAX : to->events + row->events;
}

/* Adds the rows of both slices to `rows`, ascending by entry. Returns their number. */
static uint32_t join(const struct timeline_row *one, uint32_t n_one,
		     const struct timeline_row *other, uint32_t n_other, struct timeline_row *rows)
{
	uint32_t i = 0, j = 0, n = 0;

	while (i < n_one || j < n_other) {
		if (j == n_other || (i < n_one && one[i].entry < other[j].entry)) {
			rows[n++] = one[i++];
		} else if (i == n_one || other[j].entry < one[i].entry) {
			rows[n++] = other[j++];
		} else {
			rows[n] = one[i++];
			timeline_row_add(&rows[n++], &other[j++]);
		}
	}
	return n;
}

/* Makes pairs of neighbouring slices one, where that is no longer than width_ns. */
static int join_pairs(struct timeline *timeline)
{
	struct timeline_row *rows = reallocarray(NULL, timeline->row_capacity, sizeof(*rows));
	uint32_t n_rows = 0, n_slices = 0;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < timeline->n_slices; i++) {
		struct timeline_slice slice = timeline->slices[i];
		struct timeline_slice next = { 0 };

		if (i + 1 < timeline->n_slices &&
		    timeline->slices[i + 1].end_ns - slice.begin_ns <= timeline->width_ns)
			next = timeline->slices[++i];
		slice.n = join(timeline->rows + slice.first, slice.n, timeline->rows + next.first,
			       next.n, rows + n_rows);
		slice.first = n_rows;
		if (next.n)
			slice.end_ns = next.end_ns;
		n_rows += slice.n;
		timeline->slices[n_slices++] = slice;
	}
	free(timeline->rows);
	timeline->rows = rows;
	timeline->n_rows = n_rows;
	timeline->n_slices = n_slices;
	return 0;
}

/* Makes slices longer until a quarter of the rows is free. */
static int make_coarser(struct timeline *timeline)
{
	while (timeline->n_rows > timeline->most_rows / 4 * 3) {
		uint32_t n = timeline->n_slices;

		if (join_pairs(timeline) < 0)
			return -ENOMEM;
		if (timeline->n_slices < n)
			continue;
		if (timeline->width_ns > WIDTH_MAX_NS)
			return -EFBIG;
		timeline->width_ns *= 2;
	}
	return 0;
}

static int note(struct timeline *timeline, const struct tally *tally, uint64_t now_ns)
{
	const struct tally_entry *entries = tally_entries(tally);
	uint32_t n = tally_n_entries(tally), first = timeline->n_rows;
	int r = grow(&timeline->seen, &timeline->seen_capacity, n);

	while (r == 0 && timeline->n_seen < n)
		timeline->seen[timeline->n_seen++] = (struct timeline_count){ 0 };
	for (uint32_t i = 0; r == 0 && i < n; i++) {
		struct timeline_count *seen = &timeline->seen[i];
		uint64_t more = entries[i].count - seen->count;
		uint64_t events = entries[i].events - seen->events;

		if (!more && !events)
			continue;
		r = grow(&timeline->rows, &timeline->row_capacity, timeline->n_rows + 1);
		if (r == 0)
			timeline->rows[timeline->n_rows++] = (struct timeline_row){
				more, i, events > UINT32_MAX ? UINT32_MAX : (uint32_t)events
			};
		*seen = (struct timeline_count){ entries[i].count, entries[i].events };
	}
	if (r < 0 || timeline->n_rows == first)
		return r;
	r = grow(&timeline->slices, &timeline->slice_capacity, (size_t)timeline->n_slices + 1);
	if (r < 0)
		return r;
	timeline->slices[timeline->n_slices++] =
		(struct timeline_slice){ .begin_ns = timeline->noted_ns,
					 .end_ns = now_ns,
					 .first = first,
					 .n = timeline->n_rows - first };
	return 0;
}

void timeline_fit(struct timeline *timeline)
{
	if (timeline->n_rows > timeline->most_rows && make_coarser(timeline) < 0)
		give_up(timeline);
}

void timeline_note(struct timeline *timeline, const struct tally *tally, uint64_t now_ns)
{
	if (now_ns < timeline->noted_ns)
		now_ns = timeline->noted_ns;
	if (!timeline->given_up && note(timeline, tally, now_ns) < 0)
		give_up(timeline);
	timeline_fit(timeline);
	timeline->noted_ns = now_ns;
}

void timeline_begin(struct timeline *timeline)
{
	timeline->n_slices = timeline->n_rows = timeline->n_seen = 0;
	timeline->begin_ns = timeline->noted_ns;
	timeline->given_up = false;
	timeline->bins.n = 0;
}

bool timeline_tells(const struct timeline *timeline, const struct tally *tally)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < timeline->n_rows; i++)
		if (__builtin_add_overflow(total, timeline->rows[i].count, &total))
			return false;
	return timeline->n_slices > 0 && timeline->n_seen == tally_n_entries(tally) &&
	       total == tally_total(tally);
}

int timeline_add_slice(struct timeline *timeline, uint64_t begin_ns, uint64_t end_ns)
{
	const struct timeline_slice *last =
		timeline->n_slices ? &timeline->slices[timeline->n_slices - 1] : NULL;
	int r;

	if (begin_ns >= end_ns || (last && begin_ns < last->end_ns))
		return -EINVAL;
	r = grow(&timeline->slices, &timeline->slice_capacity, (size_t)timeline->n_slices + 1);
	if (r < 0)
		return r;
	timeline->slices[timeline->n_slices++] = (struct timeline_slice){
		.begin_ns = begin_ns, .end_ns = end_ns, .first = timeline->n_rows
	};
	timeline->noted_ns = end_ns;
	return 0;
}

int timeline_add_row(struct timeline *timeline, struct timeline_row row)
{
	struct timeline_slice *slice = &timeline->slices[timeline->n_slices - 1];
	int r;

	if (slice->n && timeline->rows[timeline->n_rows - 1].entry >= row.entry)
		return -EINVAL;
	r = grow(&timeline->rows, &timeline->row_capacity, (size_t)timeline->n_rows + 1);
	if (r < 0)
		return r;
	timeline->rows[timeline->n_rows++] = row;
	slice->n++;
	return 0;
}

uint64_t timeline_longest_ns(const struct timeline *timeline)
{
	uint64_t longest = 0;

	for (uint32_t i = 0; i < timeline->n_slices; i++) {
		uint64_t ns = timeline->slices[i].end_ns - timeline->slices[i].begin_ns;

		longest = ns > longest ? ns : longest;
	}
	return longest;
}

void timeline_clear(struct timeline *timeline)
{
	drop(timeline);
	bins_clear(&timeline->bins);
}
