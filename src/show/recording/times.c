// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording/times.h"

#include <errno.h>
#include <stdlib.h>

/* ---- saving ---- */

/* Begins with the distance to the end of the slice before, each row with that to the one before. */
static void put_slice(const struct timeline *timeline, const struct timeline_slice *slice,
		      uint64_t before, struct section_writer *writer)
{
	uint32_t next = 0;

	section_begin_item(writer);
	section_put(writer, slice->begin_ns - before);
	section_put(writer, slice->end_ns - slice->begin_ns);
	section_put(writer, slice->n);
	for (uint32_t i = 0; i < slice->n; i++) {
		const struct timeline_row *row = &timeline->rows[slice->first + i];

		section_begin_item(writer);
		section_put(writer, row->entry - next);
		section_put(writer, row->count);
		section_put(writer, row->events);
		next = row->entry + 1;
	}
}

static void save_bins(const struct bins *bins, struct section_writer *writer)
{
	_Static_assert(BINS_MOST * 5u + 20u < RECORDING_SECTION_FULL, "all bins fit in a section");
	writer->section = RECORDING_BINS;
	section_put(writer, bins->width_ns);
	section_put(writer, bins->n);
	for (uint32_t i = 0; i < bins->n; i++)
		section_put(writer, bins->counts[i]);
	section_close(writer);
}

void times_save(const struct timeline *timeline, struct section_writer *writer)
{
	uint64_t before = timeline->begin_ns;

	writer->section = RECORDING_SLICES;
	for (uint32_t i = 0; i < timeline->n_slices; i++) {
		put_slice(timeline, &timeline->slices[i], before, writer);
		before = timeline->slices[i].end_ns;
	}
	section_close(writer);
	if (timeline->bins.width_ns > 0)
		save_bins(&timeline->bins, writer);
}

/* ---- loading ---- */

void times_loading_clear(struct times_loading *loading)
{
	free(loading->counted);
	loading->counted = NULL;
}

static void fail(struct reader *reader, int r)
{
	if (r == -ENOMEM)
		reader_fail(reader, -ENOMEM, "out of memory");
	else if (r < 0)
		reader_fail(reader, -EBADMSG, "slices out of order");
}

static void begin_slice(struct times_loading *loading, struct reader *reader)
{
	struct timeline *timeline = loading->timeline;
	uint64_t begin = reader_number(reader), end = reader_number(reader);
	uint64_t most = TIMELINE_ROWS - timeline->n_rows;

	loading->rows = (uint32_t)reader_up_to(reader, most, "too many counts of slices");
	if (loading->rows == 0)
		reader_fail(reader, -EBADMSG, "slice without a count");
	if (__builtin_add_overflow(begin, timeline->noted_ns, &begin) ||
	    __builtin_add_overflow(end, begin, &end))
		reader_fail(reader, -EBADMSG, "slice ends too late");
	if (!reader->failed)
		fail(reader, timeline_add_slice(timeline, begin, end));
}

/* Whether there is something in the row, and its entry has as much that no row before it has. */
static bool count_row(struct times_loading *loading, const struct timeline_row *row)
{
	const struct tally_entry *entry = &tally_entries(loading->tally)[row->entry];
	struct timeline_count *counted = &loading->counted[row->entry];

	if ((!row->count && !row->events) || row->count > entry->count - counted->count ||
	    row->events > entry->events - counted->events)
		return false;
	counted->count += row->count;
	counted->events += row->events;
	return true;
}

static void load_row(struct times_loading *loading, struct reader *reader)
{
	struct timeline *timeline = loading->timeline;
	const struct timeline_slice *slice = &timeline->slices[timeline->n_slices - 1];
	uint64_t next = slice->n ? timeline->rows[timeline->n_rows - 1].entry + 1ull : 0;
	uint64_t entry = next + reader_up_to(reader, UINT32_MAX, "no such entry");
	struct timeline_row row = { .count = reader_number(reader) };

	row.events = (uint32_t)reader_up_to(reader, UINT32_MAX, "too many events");
	row.entry = (uint32_t)entry;
	if (entry >= tally_n_entries(loading->tally))
		reader_fail(reader, -EBADMSG, "no such entry");
	if (reader->failed)
		return;
	if (!count_row(loading, &row)) {
		reader_fail(reader, -EBADMSG, "slices that count other than their entries");
		return;
	}
	loading->rows--;
	fail(reader, timeline_add_row(timeline, row));
}

void times_load_slice(struct times_loading *loading, struct reader *reader)
{
	uint32_t n = tally_n_entries(loading->tally);

	if (!loading->counted)
		loading->counted = calloc((size_t)n + 1, sizeof(*loading->counted));
	if (!loading->counted)
		fail(reader, -ENOMEM);
	else if (loading->rows == 0)
		begin_slice(loading, reader);
	else
		load_row(loading, reader);
}

void times_load_bins(struct times_loading *loading, struct reader *reader)
{
	struct bins *bins = &loading->timeline->bins;
	uint64_t width = reader_number(reader);
	uint64_t n = reader_up_to(reader, BINS_MOST, "too many bins");

	if (width == 0 || width > UINT64_MAX / BINS_MOST)
		reader_fail(reader, -EBADMSG, "bins of no length");
	if (reader->failed)
		return;
	*bins = (struct bins){ .width_ns = width, .most = BINS_MOST };
	for (uint64_t i = 0; i < n && !reader->failed; i++) {
		uint64_t count = reader_up_to(reader, UINT32_MAX, "bin with too large a count");

		if (bins_add(bins, i * width, count) < 0)
			fail(reader, -ENOMEM);
	}
}

void times_check(const struct times_loading *loading, struct reader *reader)
{
	struct timeline *timeline = loading->timeline;

	timeline->n_seen = tally_n_entries(loading->tally);
	timeline->width_ns = timeline_longest_ns(timeline);
	if (loading->rows > 0 || !timeline_tells(timeline, loading->tally))
		reader_fail(reader, -EBADMSG, "slices that count other than their entries");
}
