// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What those who watch are told, as server-sent events with JSON in them: docs/live.md. Frames and
 * nodes are told once, in the order of their numbers; then counts go by number.
 */
#include <stdlib.h>

#include "flame/page.h"
#include "live/keeper.h"
#include "view/json_text.h"

#define STATE_COUNTS (4u << 20) /* bytes of counts of past seconds in a state, at most */
#define MAX_NEWS     (32u << 20)

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

/* A comma before each but the first. */
static void put_next(struct bytes *bytes, bool *more, uint64_t value)
{
	if (*more)
		bytes_char(bytes, ',');
	*more = true;
	bytes_decimal(bytes, value);
}

static void put_frames(struct bytes *bytes, const struct keeper *keeper, uint32_t first)
{
	put_key(bytes, "frames");
	bytes_char(bytes, '[');
	for (uint32_t i = first; i < flame_frames_n(keeper->tree.frames); i++) {
		const struct flame_frame *frame = flame_frames_get(keeper->tree.frames, i);

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

/* Pairs of a node and its count. */
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

static void add_up(const struct keeper *keeper, const struct second *second, uint64_t *sums)
{
	for (uint32_t i = 0; i < second->n_counts; i++)
		sums[keeper->tree.leaf_of[second->counts[i].entry]] += second->counts[i].count;
}

/* As add_up() and put_sums(), but only looks at what counted. */
static void put_counts(struct bytes *bytes, struct keeper *keeper, const struct second *second,
		       uint64_t *sums)
{
	bool more = false;

	add_up(keeper, second, sums);
	bytes_char(bytes, '[');
	for (uint32_t i = 0; i < second->n_counts; i++) {
		uint32_t node = keeper->tree.leaf_of[second->counts[i].entry];

		if (!sums[node])
			continue;
		put_next(bytes, &more, node);
		put_next(bytes, &more, sums[node]);
		sums[node] = 0;
	}
	bytes_char(bytes, ']');
}

/* The number of the first bin, then the bins. Returns the number of the next one. */
static uint64_t put_bins(struct bytes *bytes, const struct keeper *keeper, uint64_t from)
{
	uint32_t bins[512], n;
	uint64_t first = from;
	bool more = false;

	put_key(bytes, "bins");
	bytes_char(bytes, '[');
	do {
		n = keeper->activity ? activity_read(keeper->activity, from, bins, 512, &first) : 0;
		if (!more)
			put_next(bytes, &more, first);
		for (uint32_t i = 0; i < n; i++)
			put_next(bytes, &more, bins[i]);
		from = first + n;
	} while (n == 512);
	bytes_char(bytes, ']');
	return from;
}

static uint64_t lost_of(const struct tally_losses *losses)
{
	return losses->lost_ring + losses->lost_counts + losses->lost_nested;
}

static struct blob *finish(struct bytes *bytes)
{
	char *copy = NULL;
	size_t size = bytes->used;

	if (!bytes->failed && size < MAX_NEWS)
		copy = realloc(bytes->start, size + 1);
	if (copy)
		bytes->start = NULL;
	bytes_clear(bytes);
	return copy ? blob_new(copy, size) : NULL;
}

struct blob *news_tick(struct keeper *keeper, const struct second *second)
{
	uint64_t *sums = keeper_sums(keeper, keeper->tree.n_nodes);
	struct bytes bytes;

	if (!sums)
		return NULL;
	bytes_start(&bytes, NULL);
	bytes_string(&bytes, "event: tick\ndata: {\"tick\":");
	bytes_decimal(&bytes, second->tick);
	put_number(&bytes, "at", second->at_ns / 1000000);
	put_number(&bytes, "ms", second->ns / 1000000);
	put_number(&bytes, "samples", second->samples);
	put_number(&bytes, "lost", lost_of(&second->losses));
	put_frames(&bytes, keeper, keeper->told_frames);
	put_nodes(&bytes, &keeper->tree, keeper->told_nodes);
	put_key(&bytes, "counts");
	put_counts(&bytes, keeper, second, sums);
	keeper->told_bins = put_bins(&bytes, keeper, keeper->told_bins);
	bytes_string(&bytes, "}\n\n");
	keeper->told_frames = flame_frames_n(keeper->tree.frames);
	keeper->told_nodes = keeper->tree.n_nodes;
	return finish(&bytes);
}

static void put_measurement(struct bytes *bytes, const struct keeper *keeper)
{
	struct profile_meta meta = keeper->source.meta;
	struct profile profile = { .meta = &meta,
				   .losses = tally_losses_of(keeper->tally),
				   .total = tally_total(keeper->tally) };

	meta.duration_ns = keeper->at_ns;
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

/* From which second on the counts are told, so that it is not too much. */
static uint64_t first_told(const struct keeper *keeper)
{
	uint64_t oldest = history_oldest(&keeper->history);
	uint64_t tick = history_newest(&keeper->history) + 1;
	size_t size = 0;

	while (tick > oldest) {
		size += (size_t)history_get(&keeper->history, tick - 1)->n_counts * 8;
		if (size > STATE_COUNTS)
			break;
		tick--;
	}
	return tick;
}

static void put_seconds(struct bytes *bytes, struct keeper *keeper, uint64_t *sums)
{
	uint64_t oldest = history_oldest(&keeper->history), told = first_told(keeper);

	put_key(bytes, "seconds");
	bytes_char(bytes, '[');
	for (uint64_t tick = oldest; tick < oldest + keeper->history.n; tick++) {
		const struct second *second = history_get(&keeper->history, tick);
		const uint64_t values[] = { tick, second->at_ns / 1000000, second->ns / 1000000,
					    second->samples, lost_of(&second->losses) };
		bool more = false;

		bytes_string(bytes, tick > oldest ? ",[" : "[");
		for (int i = 0; i < 5; i++)
			put_next(bytes, &more, values[i]);
		bytes_char(bytes, ',');
		if (tick < told)
			bytes_string(bytes, "null");
		else
			put_counts(bytes, keeper, second, sums);
		bytes_char(bytes, ']');
	}
	bytes_char(bytes, ']');
}

struct blob *news_state(struct keeper *keeper)
{
	uint64_t *sums;
	struct bytes bytes;

	if (keeper->state)
		return blob_share(keeper->state);
	sums = keeper_sums(keeper, keeper->tree.n_nodes);
	if (!sums)
		return NULL;
	bytes_start(&bytes, NULL);
	/* A page that lost us comes again after a second. */
	bytes_string(&bytes, "retry: 1000\nevent: state\ndata: {\"measurement\":");
	put_measurement(&bytes, keeper);
	put_number(&bytes, "tick", history_newest(&keeper->history));
	put_number(&bytes, "bin_ms", keeper->activity ? ACTIVITY_BIN_MS : 0);
	put_number(&bytes, "shortened", keeper->tree.n_shortened);
	put_number(&bytes, "ended", keeper->ended);
	put_frames(&bytes, keeper, 0);
	put_nodes(&bytes, &keeper->tree, 0);
	put_seconds(&bytes, keeper, sums);
	for (uint32_t i = 0; i < keeper->tree.n_nodes; i++)
		sums[i] = keeper->tree.nodes[i].self;
	put_key(&bytes, "totals");
	put_sums(&bytes, sums, keeper->tree.n_nodes);
	put_bins(&bytes, keeper, 0);
	bytes_string(&bytes, "}\n\n");
	keeper->state = finish(&bytes);
	return keeper->state ? blob_share(keeper->state) : NULL;
}

struct blob *news_end(void)
{
	struct bytes bytes;

	bytes_start(&bytes, NULL);
	bytes_string(&bytes, "event: end\ndata: {}\n\n");
	return finish(&bytes);
}

struct blob *news_counts(struct keeper *keeper, uint64_t from, uint64_t to)
{
	uint64_t *sums = keeper_sums(keeper, keeper->tree.n_nodes);
	uint64_t oldest = history_oldest(&keeper->history);
	struct bytes bytes;

	if (!sums)
		return NULL;
	if (from < oldest)
		from = oldest;
	for (uint64_t tick = from; tick <= to; tick++) {
		const struct second *second = history_get(&keeper->history, tick);

		if (!second)
			break;
		add_up(keeper, second, sums);
	}
	bytes_start(&bytes, NULL);
	bytes_string(&bytes, "{\"from\":");
	bytes_decimal(&bytes, from);
	put_number(&bytes, "to", to);
	put_key(&bytes, "counts");
	put_sums(&bytes, sums, keeper->tree.n_nodes);
	bytes_string(&bytes, "}\n");
	return finish(&bytes);
}
