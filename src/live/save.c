// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A stretch of the measurement as a file: its counts become a tally of their own, with the stacks
 * they need, and any writer takes it from there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "live/keeper.h"

DEFINE_OWN(struct tally, tally_free)

/* ---- a stream into memory that ends at a bound ---- */

struct sink {
	char *bytes;
	size_t size, room;
	bool too_large;
};

static ssize_t sink_write(void *context, const char *from, size_t size)
{
	struct sink *sink = context;

	if (size > SAVE_MAX_SIZE - sink->size) {
		sink->too_large = true;
		errno = EFBIG;
		return 0;
	}
	if (size > sink->room - sink->size) {
		size_t room = (sink->size + size) * 2;
		char *grown = realloc(sink->bytes, room);

		if (!grown)
			return 0;
		sink->bytes = grown;
		sink->room = room;
	}
	memcpy(sink->bytes + sink->size, from, size);
	sink->size += size;
	return (ssize_t)size;
}

/* ---- the stretch ---- */

/* The stack's number in the part, where it is appended at first sight. */
static int part_stack(const struct keeper *keeper, struct tally *part, uint32_t *new_of,
		      uint32_t *stack)
{
	const struct tally_stack *is;
	uint32_t *frames;
	int r;

	if (*stack >= tally_n_stacks(keeper->tally))
		return 0;
	if (new_of[*stack] == INDEX_NONE) {
		is = &tally_stacks(keeper->tally)[*stack];
		r = tally_append_stack(part, is->n_frames, is->flags, &frames);
		if (r < 0)
			return r;
		memcpy(frames, tally_frames(keeper->tally, is), is->n_frames * sizeof(*frames));
		new_of[*stack] = tally_n_stacks(part) - 1;
	}
	*stack = new_of[*stack];
	return 0;
}

static int fill_part(const struct keeper *keeper, const uint64_t *sums, struct tally *part)
{
	uint32_t n = tally_n_entries(keeper->tally), n_stacks = tally_n_stacks(keeper->tally);
	own(own_free) uint32_t *new_of = reallocarray(NULL, (size_t)n_stacks + 1, sizeof(*new_of));
	int r = new_of ? 0 : -ENOMEM;

	if (new_of)
		memset(new_of, 0xff, n_stacks * sizeof(*new_of));
	for (uint32_t i = 0; r == 0 && i < tally_n_addresses(keeper->tally); i++)
		r = tally_append_address(part, &tally_addresses(keeper->tally)[i]);
	for (uint32_t i = 0; r == 0 && i < n; i++) {
		struct tally_entry entry = tally_entries(keeper->tally)[i];

		if (!sums[i])
			continue;
		entry.count = sums[i];
		r = part_stack(keeper, part, new_of, &entry.kernel);
		if (r == 0)
			r = part_stack(keeper, part, new_of, &entry.user);
		if (r == 0)
			r = tally_append_entry(part, &entry);
	}
	return r;
}

static int cut_part(struct keeper *keeper, uint64_t from, uint64_t to, struct profile_meta *meta,
		    struct tally **ret_part)
{
	own(own_tally_free) struct tally *part = NULL;
	uint64_t *sums = keeper_sums(keeper, tally_n_entries(keeper->tally));
	uint64_t oldest = history_oldest(&keeper->history);
	uint64_t begin = from > oldest ? from : oldest;
	int r = sums ? tally_new(0, 0, &part) : -ENOMEM;

	meta->duration_ns = 0;
	for (uint64_t tick = begin; r == 0 && tick <= to; tick++) {
		const struct second *second = history_get(&keeper->history, tick);
		struct tally_losses *losses = tally_losses(part);

		if (!second)
			break;
		if (tick == begin)
			meta->start_time_ns += second->at_ns - second->ns;
		meta->duration_ns += second->ns;
		for (uint32_t i = 0; i < second->n_counts; i++)
			sums[second->counts[i].entry] += second->counts[i].count;
		losses->events += second->losses.events;
		losses->lost_ring += second->losses.lost_ring;
		losses->lost_counts += second->losses.lost_counts;
		losses->lost_nested += second->losses.lost_nested;
		losses->throttled += second->losses.throttled;
		losses->unseen += second->losses.unseen;
		losses->counts_full |= second->losses.counts_full;
	}
	if (r == 0)
		r = fill_part(keeper, sums, part);
	if (r == 0)
		*ret_part = take_ptr(part);
	return r;
}

/* ---- the file ---- */

static int write_report(const struct keeper *keeper, const struct writer *writer,
			const struct profile_meta *meta, const struct tally *tally, FILE *out)
{
	const struct report report = {
		.measurement = { meta, tally, keeper->names },
		.options = &keeper->source.report,
		.head = { .title = true },
	};

	return report_write(writer, &report, out, NULL);
}

int save_stretch(struct keeper *keeper, const struct writer *writer, uint64_t from, uint64_t to,
		 struct blob **ret_blob)
{
	static const cookie_io_functions_t functions = { .write = sink_write };
	struct profile_meta meta = keeper->source.meta;
	own(own_tally_free) struct tally *part = NULL;
	struct sink sink = { 0 };
	FILE *out;
	int r = 0;

	meta.duration_ns = keeper->at_ns;
	if (from > 0)
		r = cut_part(keeper, from, to, &meta, &part);
	if (r < 0)
		return r;
	out = fopencookie(&sink, "w", functions);
	if (!out)
		return -ENOMEM;
	r = write_report(keeper, writer, &meta, part ? part : keeper->tally, out);
	if (fclose(out) != 0 && r == 0)
		r = -ENOMEM;
	if (sink.too_large)
		r = -EFBIG;
	if (r == 0 && !sink.bytes)
		sink.bytes = calloc(1, 1);
	if (r < 0) {
		free(sink.bytes);
		return r;
	}
	*ret_blob = blob_new(sink.bytes, sink.size);
	return *ret_blob ? 0 : -ENOMEM;
}
