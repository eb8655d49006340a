// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/updates.h"

#include <stdlib.h>

#include "flame/page.h"
#include "view/json_text.h"

/* The seconds in a state have counts of about this size in all, bytes. */
#define MAX_STATE_COUNTS (4u << 20)

#define MAX_MESSAGE (32u << 20) /* bytes */

static void put_key(struct bytes *bytes, const char *key)
{
	bytes_char(bytes, ',');
	json_key(bytes, key);
}

static void put_number(struct bytes *bytes, const char *key, uint64_t value)
{
	put_key(bytes, key);
	bytes_decimal(bytes, value);
}

/* A number of a list, after a comma if it is not the first. */
static void put_next(struct bytes *bytes, bool *more, uint64_t value)
{
	if (*more)
		bytes_char(bytes, ',');
	*more = true;
	bytes_decimal(bytes, value);
}

static void put_frames(struct bytes *bytes, const struct model *model, uint32_t first)
{
	put_key(bytes, "frames");
	bytes_char(bytes, '[');
	for (uint32_t i = first; i < flame_frames_n(model->tree.frames); i++) {
		const struct flame_frame *frame = flame_frames_get(model->tree.frames, i);

		bytes_string(bytes, i > first ? ",[" : "[");
		json_string(bytes, frame->name);
		bytes_char(bytes, ',');
		json_string(bytes, frame->module);
		bytes_char(bytes, ',');
		bytes_decimal(bytes, frame->kind);
		bytes_char(bytes, ',');
		bytes_decimal(bytes, frame->kernel);
		bytes_char(bytes, ',');
		bytes_decimal(bytes, frame->tgid);
		bytes_char(bytes, ',');
		bytes_decimal(bytes, frame->tid);
		bytes_char(bytes, ',');
		bytes_decimal(bytes, frame->interest);
		bytes_char(bytes, ']');
	}
	bytes_char(bytes, ']');
}

static void put_nodes(struct bytes *bytes, const struct tree *tree, uint32_t first)
{
	bool more = false;

	put_key(bytes, "nodes");
	bytes_char(bytes, '[');
	for (uint32_t i = first; i < tree->n_nodes; i++) {
		put_next(bytes, &more, tree->nodes[i].parent);
		put_next(bytes, &more, tree->nodes[i].frame);
	}
	bytes_char(bytes, ']');
}

/* A list of the nodes that have a count, each followed by it. */
static void put_sums(struct bytes *bytes, const uint64_t *sums, uint32_t n)
{
	bool more = false;

	bytes_char(bytes, '[');
	for (uint32_t i = 0; i < n; i++) {
		if (!sums[i])
			continue;
		put_next(bytes, &more, i);
		put_next(bytes, &more, sums[i]);
	}
	bytes_char(bytes, ']');
}

static void add_up(const struct model *model, const struct second *second, uint64_t *sums)
{
	for (uint32_t i = 0; i < second->n_counts; i++) {
		uint32_t node = model->tree.leaf_of[second->counts[i].entry];

		if (node != TREE_NO_NODE)
			sums[node] += second->counts[i].count;
	}
}

/* As add_up() and put_sums(), but in a time that depends on the second alone. Leaves all zero. */
static void put_counts(struct bytes *bytes, struct model *model, const struct second *second,
		       uint64_t *sums)
{
	bool more = false;

	add_up(model, second, sums);
	bytes_char(bytes, '[');
	for (uint32_t i = 0; i < second->n_counts; i++) {
		uint32_t node = model->tree.leaf_of[second->counts[i].entry];

		if (node == TREE_NO_NODE || !sums[node])
			continue;
		put_next(bytes, &more, node);
		put_next(bytes, &more, sums[node]);
		sums[node] = 0;
	}
	bytes_char(bytes, ']');
}

/* The number of the first bin, then the bins from there. Returns the number of the next bin. */
static uint64_t put_bins(struct bytes *bytes, const struct model *model, uint64_t from)
{
	uint32_t bins[512], n;
	uint64_t first = from;
	bool more = false;

	put_key(bytes, "bins");
	bytes_char(bytes, '[');
	do {
		n = model->activity ? activity_read(model->activity, from, bins, 512, &first) : 0;
		if (!more)
			put_next(bytes, &more, first);
		for (uint32_t i = 0; i < n; i++)
			put_next(bytes, &more, bins[i]);
		from = first + n;
	} while (n == 512);
	bytes_char(bytes, ']');
	return from;
}

static struct buffer *finish(struct bytes *bytes)
{
	char *copy = NULL;
	size_t size = bytes->used;

	if (!bytes->failed && size < MAX_MESSAGE)
		copy = realloc(bytes->start, size + 1);
	if (copy)
		bytes->start = NULL;
	bytes_clear(bytes);
	return copy ? buffer_new(copy, size) : NULL;
}

/* What is not told apart for want of nodes. */
static void put_limits(struct bytes *bytes, const struct model *model)
{
	put_number(bytes, "shortened", model->tree.n_shortened);
	put_number(bytes, "shared_from", (model->shared_from_ns + 999999) / 1000000);
}

struct buffer *updates_tick(struct model *model, const struct second *second)
{
	uint64_t *sums = model_sums(model, model->tree.n_nodes);
	struct bytes bytes;

	if (!sums)
		return NULL;
	bytes_start(&bytes, NULL);
	bytes_string(&bytes, "event: tick\ndata: {\"tick\":");
	bytes_decimal(&bytes, second->tick);
	put_number(&bytes, "at", second->at_ns / 1000000);
	put_number(&bytes, "ms", second->ns / 1000000);
	put_number(&bytes, "samples", second->samples);
	put_number(&bytes, "lost", tally_lost(&second->losses));
	put_limits(&bytes, model);
	put_frames(&bytes, model, model->sent_frames);
	put_nodes(&bytes, &model->tree, model->sent_nodes);
	put_key(&bytes, "counts");
	put_counts(&bytes, model, second, sums);
	model->sent_bins = put_bins(&bytes, model, model->sent_bins);
	bytes_string(&bytes, "}\n\n");
	model->sent_frames = flame_frames_n(model->tree.frames);
	model->sent_nodes = model->tree.n_nodes;
	return finish(&bytes);
}

static void put_measurement(struct bytes *bytes, const struct model *model)
{
	struct profile_meta meta = model->source.meta;
	struct profile profile = { .meta = &meta,
				   .caption = model->source.report.caption,
				   .losses = tally_losses_of(model->tally),
				   .total = tally_total(model->tally),
				   .events = tally_events(model->tally) };

	meta.duration_ns = model->at_ns;
	json_measurement(bytes, &profile);
	put_key(bytes, "head");
	page_head(&profile, &(const struct page_options){ .shares = true }, bytes);
	put_key(bytes, "formats");
	bytes_char(bytes, '[');
	for (uint32_t i = 0; writers[i]; i++) {
		bytes_string(bytes, i ? ",[" : "[");
		json_string(bytes, writers[i]->name);
		bytes_char(bytes, ',');
		json_string(bytes, writers[i]->extensions[0]);
		bytes_char(bytes, ',');
		json_string(bytes, writers[i]->description);
		bytes_char(bytes, ']');
	}
	bytes_char(bytes, ']');
}

/* The first second whose counts are sent, so that those of all later ones are not too large. */
static uint64_t first_with_counts(const struct model *model)
{
	uint64_t oldest = history_oldest(&model->history);
	uint64_t tick = history_newest(&model->history) + 1;
	size_t size = 0;

	while (tick > oldest) {
		size += (size_t)history_get(&model->history, tick - 1)->n_counts * 8;
		if (size > MAX_STATE_COUNTS)
			break;
		tick--;
	}
	return tick;
}

static void put_seconds(struct bytes *bytes, struct model *model, uint64_t *sums)
{
	uint64_t oldest = history_oldest(&model->history), first = first_with_counts(model);

	put_key(bytes, "seconds");
	bytes_char(bytes, '[');
	for (uint64_t tick = oldest; tick < oldest + model->history.n; tick++) {
		const struct second *second = history_get(&model->history, tick);
		const uint64_t values[] = { tick, second->at_ns / 1000000, second->ns / 1000000,
					    second->samples, tally_lost(&second->losses) };
		bool more = false;

		bytes_string(bytes, tick > oldest ? ",[" : "[");
		for (int i = 0; i < 5; i++)
			put_next(bytes, &more, values[i]);
		bytes_char(bytes, ',');
		if (tick < first)
			bytes_string(bytes, "null");
		else
			put_counts(bytes, model, second, sums);
		bytes_char(bytes, ']');
	}
	bytes_char(bytes, ']');
}

struct buffer *updates_state(struct model *model)
{
	uint64_t *sums;
	struct bytes bytes;

	if (model->state)
		return buffer_ref(model->state);
	sums = model_sums(model, model->tree.n_nodes);
	if (!sums)
		return NULL;
	bytes_start(&bytes, NULL);
	/* A browser that lost the connection tries again after `retry` milliseconds. */
	bytes_string(&bytes, "retry: 1000\nevent: state\ndata: {\"measurement\":");
	put_measurement(&bytes, model);
	put_number(&bytes, "tick", history_newest(&model->history));
	put_number(&bytes, "bin_ms", model->activity ? ACTIVITY_BIN_MS : 0);
	put_limits(&bytes, model);
	put_frames(&bytes, model, 0);
	put_nodes(&bytes, &model->tree, 0);
	put_seconds(&bytes, model, sums);
	for (uint32_t i = 0; i < model->tree.n_nodes; i++)
		sums[i] = model->tree.nodes[i].self;
	put_key(&bytes, "totals");
	put_sums(&bytes, sums, model->tree.n_nodes);
	put_bins(&bytes, model, 0);
	bytes_string(&bytes, "}\n\n");
	model->state = finish(&bytes);
	return model->state ? buffer_ref(model->state) : NULL;
}

struct buffer *updates_end(void)
{
	struct bytes bytes;

	bytes_start(&bytes, NULL);
	bytes_string(&bytes, "event: end\ndata: {}\n\n");
	return finish(&bytes);
}

struct buffer *updates_counts(struct model *model, uint64_t from, uint64_t to)
{
	uint64_t *sums = model_sums(model, model->tree.n_nodes);
	uint64_t oldest = history_oldest(&model->history);
	struct bytes bytes;

	if (!sums)
		return NULL;
	if (from < oldest)
		from = oldest;
	for (uint64_t tick = from; tick <= to; tick++) {
		const struct second *second = history_get(&model->history, tick);

		if (!second)
			break;
		add_up(model, second, sums);
	}
	bytes_start(&bytes, NULL);
	bytes_string(&bytes, "{\"from\":");
	bytes_decimal(&bytes, from);
	put_number(&bytes, "to", to);
	put_key(&bytes, "counts");
	put_sums(&bytes, sums, model->tree.n_nodes);
	bytes_string(&bytes, "}\n");
	return finish(&bytes);
}
