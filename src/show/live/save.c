// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The counts of a range of seconds are put into a tally of their own, with the stacks they need, so
 * that any writer can write it.
 */
#include "live/save.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/own.h"

DEFINE_OWN(struct tally, tally_free)

/* ---- a stream into memory, of bounded size ---- */

struct sink {
	char *bytes;
	size_t size, capacity;
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
	if (grow(&sink->bytes, &sink->capacity, sink->size + size) < 0)
		return 0;
	memcpy(sink->bytes + sink->size, from, size);
	sink->size += size;
	return (ssize_t)size;
}

/* ---- a range of seconds ---- */

/* Replaces the number of a stack by that in `part`, to which it is added when it is new. */
static int copy_stack(const struct model *model, struct tally *part, uint32_t *new_of,
		      uint32_t *stack)
{
	const struct tally_stack *old;
	uint32_t *frames;
	int r;

	if (*stack >= tally_n_stacks(model->tally))
		return 0;
	if (new_of[*stack] == INDEX_NONE) {
		old = &tally_stacks(model->tally)[*stack];
		r = tally_append_stack(part, old->n_frames, old->flags, &frames);
		if (r < 0)
			return r;
		memcpy(frames, tally_frames(model->tally, old), old->n_frames * sizeof(*frames));
		new_of[*stack] = tally_n_stacks(part) - 1;
	}
	*stack = new_of[*stack];
	return 0;
}

/* What an entry has counted in a range. */
struct part_sum {
	uint64_t count, events;
};

/*
 * Adds to `part` each entry with a sum, and all addresses, whose numbers stay as they are. The
 * largest of the events is known of the whole only.
 */
static int copy_entries(const struct model *model, const struct part_sum *sums, bool whole,
			struct tally *part)
{
	uint32_t n_stacks = tally_n_stacks(model->tally);
	own(own_free) uint32_t *new_of = reallocarray(NULL, (size_t)n_stacks + 1, sizeof(*new_of));
	int r;

	if (!new_of)
		return -ENOMEM;
	memset(new_of, 0xff, n_stacks * sizeof(*new_of)); /* INDEX_NONE */
	for (uint32_t i = 0; i < tally_n_addresses(model->tally); i++) {
		r = tally_append_address(part, &tally_addresses(model->tally)[i]);
		if (r < 0)
			return r;
	}
	for (uint32_t i = 0; i < tally_n_entries(model->tally); i++) {
		struct tally_entry entry = tally_entries(model->tally)[i];

		if (!sums[i].count && !sums[i].events)
			continue;
		entry.count = sums[i].count;
		entry.events = sums[i].events;
		entry.largest = whole ? entry.largest : 0;
		r = copy_stack(model, part, new_of, &entry.kernel);
		if (r == 0)
			r = copy_stack(model, part, new_of, &entry.user);
		if (r == 0)
			r = tally_append_entry(part, &entry);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The tally of a range; `meta` receives its start and its duration. */
static int make_part(struct model *model, uint64_t from, uint64_t to, struct profile_meta *meta,
		     struct tally **ret_part)
{
	own(own_tally_free) struct tally *part = NULL;
	uint32_t n = tally_n_entries(model->tally);
	own(own_free) struct part_sum *sums = calloc((size_t)n + 1, sizeof(*sums));
	uint64_t oldest = history_oldest(&model->history);
	bool whole;
	uint64_t begin = from > oldest ? from : oldest;
	int r;

	if (!sums)
		return -ENOMEM;
	r = tally_new(0, 0, &part);
	if (r < 0)
		return r;
	meta->duration_ns = 0;
	for (uint64_t tick = begin; tick <= to; tick++) {
		const struct second *second = history_get(&model->history, tick);

		if (!second)
			break;
		if (tick == begin)
			meta->start_time_ns += second->at_ns - second->ns;
		meta->duration_ns += second->ns;
		for (uint32_t i = 0; i < second->n_counts; i++) {
			struct part_sum *sum = &sums[second->counts[i].entry];

			sum->count += second->counts[i].count;
			sum->events += second->counts[i].events;
		}
		delta_add_losses(tally_losses(part), &second->losses);
	}
	whole = begin == 1 && to >= history_newest(&model->history);
	r = copy_entries(model, sums, whole, part);
	if (r < 0)
		return r;
	*ret_part = take_ptr(part);
	return 0;
}

/* ---- the file ---- */

static int write_report(const struct model *model, const struct writer *writer,
			const struct profile_meta *meta, const struct tally *tally, FILE *out)
{
	const struct report report = {
		.measurement = { meta, tally, model->names, NULL },
		.options = &model->source.report,
		.head = { .title = true },
	};

	return report_write(writer, &report, out, NULL, NULL);
}

int save_range(struct model *model, const struct writer *writer, uint64_t from, uint64_t to,
	       struct buffer **ret_buffer)
{
	static const cookie_io_functions_t functions = { .write = sink_write };
	struct profile_meta meta = model->source.meta;
	own(own_tally_free) struct tally *part = NULL;
	struct sink sink = { 0 };
	FILE *out;
	int r;

	meta.duration_ns = model->at_ns;
	if (from > 0) {
		r = make_part(model, from, to, &meta, &part);
		if (r < 0)
			return r;
	}
	out = fopencookie(&sink, "w", functions);
	if (!out)
		return -ENOMEM;
	r = write_report(model, writer, &meta, part ? part : model->tally, out);
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
	*ret_buffer = buffer_new(sink.bytes, sink.size);
	return *ret_buffer ? 0 : -ENOMEM;
}
