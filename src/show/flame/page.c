// SPDX-License-Identifier: GPL-2.0-or-later
#include "flame/page.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/index.h"
#include "base/own.h"
#include "flame/page_number.h"
#include "flame/page_times.h"
#include "view/caption.h"
#include "view/facts.h"
#include "view/json_text.h"
#include "view/quantity.h"

#define ON_KERNEL_SIDE 128u
#define INTEREST_SHIFT 8

struct encoder {
	const struct flame_frames *frames;
	const struct flame_tree *tree;
	uint32_t *number_of; /* in the block, by number in the table; INDEX_NONE: not used */
	uint32_t *used;	     /* numbers in the table, by number in the block */
	uint32_t n_used;
	const char **strings; /* distinct: from one pool, so equal ones have equal addresses */
	uint32_t n_strings;
	struct index index;
	struct bytes *bytes;
};

/* ---- the head ---- */

static void put_fact(void *context, const char *name, const char *text)
{
	struct bytes *json = context;

	if (json->start[json->used - 1] == ']')
		bytes_char(json, ',');
	bytes_char(json, '[');
	json_string(json, name);
	bytes_char(json, ',');
	json_string(json, text);
	bytes_char(json, ']');
}

static void put_caption(struct bytes *json, const char *key, const struct profile *profile,
			void (*caption)(struct bytes *, const struct profile *))
{
	struct bytes text;

	bytes_start(&text, NULL);
	caption(&text, profile);
	json_key(json, key);
	json_string_n(json, text.used ? text.start : "", text.used);
	bytes_char(json, ',');
	if (text.failed)
		json->failed = text.failed;
	bytes_clear(&text);
}

static void put_flag(struct bytes *json, const char *key, bool flag)
{
	json_key(json, key);
	bytes_string(json, flag ? "true," : "false,");
}

void page_head(const struct profile *profile, const struct page_options *options,
	       struct bytes *json)
{
	char scale[32], time[FACTS_TIME_SIZE];

	bytes_char(json, '{');
	put_caption(json, "title", profile, caption_title);
	put_caption(json, "subtitle", profile, caption_subtitle);
	json_key(json, "unit");
	json_string(json, quantity_unit(profile->meta));
	bytes_char(json, ',');
	if (profile->meta->start_time_ns) {
		facts_time(profile->meta->start_time_ns, time);
		json_key(json, "start");
		json_string(json, time);
		bytes_char(json, ',');
	}
	json_key(json, "sampleNs");
	bytes_decimal(json, profile->meta->unit ? 0 : profile_sample_ns(profile->meta));
	bytes_char(json, ',');
	json_key(json, "spanMs");
	bytes_decimal(json, profile->meta->duration_ns / NS_PER_MS);
	bytes_char(json, ',');
	put_flag(json, "ofAll", profile_is_of_all(profile->meta));
	put_flag(json, "compare", options->compare);
	put_flag(json, "shares", options->shares);
	snprintf(scale, sizeof(scale), "%.9g", options->base_scale > 0 ? options->base_scale : 1);
	json_key(json, "baseScale");
	bytes_string(json, scale);
	bytes_char(json, ',');
	json_key(json, "minimum");
	bytes_decimal(json, options->minimum);
	bytes_char(json, ',');
	json_key(json, "leftOut");
	bytes_decimal(json, options->left_out);
	bytes_char(json, ',');
	json_key(json, "facts");
	bytes_char(json, '[');
	facts_each(profile, put_fact, json);
	bytes_string(json, "]}");
}

static void put_head(struct encoder *encoder, const struct profile *profile,
		     const struct page_options *options)
{
	struct page_options all = *options;
	struct bytes json;

	all.compare = encoder->tree->nodes[0].base_total > 0 || profile->base;
	all.minimum = encoder->tree->minimum;
	all.left_out = encoder->tree->left_out;
	bytes_start(&json, NULL);
	page_head(profile, &all, &json);
	if (json.failed) {
		encoder->bytes->failed = json.failed;
	} else {
		page_number(encoder->bytes, json.used);
		bytes_put(encoder->bytes, json.start, json.used);
	}
	bytes_clear(&json);
}

/* ---- names ---- */

static int by_order(const void *a, const void *b, void *context)
{
	return flame_frames_compare(context, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* Numbers the frames of the tree in the order of siblings; the root is 0. */
static int number_frames(struct encoder *encoder)
{
	uint32_t n = flame_frames_n(encoder->frames), n_used = 0;
	uint32_t root = encoder->tree->nodes[0].frame;

	encoder->number_of = reallocarray(NULL, (size_t)n + 1, sizeof(*encoder->number_of));
	encoder->used = reallocarray(NULL, (size_t)n + 1, sizeof(*encoder->used));
	encoder->strings = reallocarray(NULL, (size_t)n * 2 + 1, sizeof(*encoder->strings));
	if (!encoder->number_of || !encoder->used || !encoder->strings)
		return -ENOMEM;
	memset(encoder->number_of, 0xff, (size_t)n * sizeof(*encoder->number_of));
	encoder->used[n_used++] = root;
	encoder->number_of[root] = 0;
	for (uint32_t i = 1; i < encoder->tree->n_nodes; i++) {
		uint32_t frame = encoder->tree->nodes[i].frame;

		if (encoder->number_of[frame] == INDEX_NONE) {
			encoder->number_of[frame] = 0;
			encoder->used[n_used++] = frame;
		}
	}
	qsort_r(encoder->used + 1, n_used - 1, sizeof(*encoder->used), by_order,
		(void *)encoder->frames);
	for (uint32_t i = 1; i < n_used; i++)
		encoder->number_of[encoder->used[i]] = i;
	encoder->n_used = n_used;
	return 0;
}

static int string_number(struct encoder *encoder, const char *string, uint32_t *ret_number)
{
	uint64_t hash = hash_u64((uint64_t)(uintptr_t)string);
	struct index_cursor cursor;
	int r;

	for (uint32_t at = index_first(&encoder->index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&encoder->index, &cursor)) {
		if (encoder->strings[at] == string) {
			*ret_number = at;
			return 0;
		}
	}
	r = index_add(&encoder->index, hash, encoder->n_strings);
	if (r < 0)
		return r;
	*ret_number = encoder->n_strings;
	encoder->strings[encoder->n_strings++] = string;
	return 0;
}

static int put_frames(struct encoder *encoder)
{
	struct bytes frames;
	int r = 0;

	bytes_start(&frames, NULL);
	for (uint32_t i = 0; r == 0 && i < encoder->n_used; i++) {
		const struct flame_frame *frame =
			flame_frames_get(encoder->frames, encoder->used[i]);
		uint32_t name, module;

		r = string_number(encoder, frame->name, &name);
		if (r == 0)
			r = string_number(encoder, frame->module, &module);
		if (r < 0)
			break;
		page_number(&frames, name);
		page_number(&frames, module);
		page_number(&frames, (uint64_t)frame->kind | (frame->kernel ? ON_KERNEL_SIDE : 0) |
					     (uint64_t)frame->interest << INTEREST_SHIFT);
		if (frame->kind == FLAME_WHO) {
			page_number(&frames, frame->tgid);
			page_number(&frames, frame->tid);
		}
	}
	page_number(encoder->bytes, encoder->n_strings);
	for (uint32_t i = 0; i < encoder->n_strings; i++) {
		size_t size = strlen(encoder->strings[i]);

		page_number(encoder->bytes, size);
		bytes_put(encoder->bytes, encoder->strings[i], size);
	}
	page_number(encoder->bytes, encoder->n_used);
	bytes_put(encoder->bytes, frames.start, frames.used);
	if (r == 0)
		r = frames.failed;
	bytes_clear(&frames);
	return r;
}

/* ---- nodes ---- */

static void put_steps(struct encoder *encoder)
{
	const struct flame_node *nodes = encoder->tree->nodes;

	for (uint32_t i = 1; i < encoder->tree->n_nodes; i++)
		page_number(encoder->bytes, nodes[i - 1].depth + 1 - nodes[i].depth);
}

/* `before` has room for a number at each depth. */
static void put_node_frames(struct encoder *encoder, uint32_t *before)
{
	const struct flame_node *nodes = encoder->tree->nodes;

	for (uint32_t i = 1; i < encoder->tree->n_nodes; i++) {
		uint32_t number = encoder->number_of[nodes[i].frame], depth = nodes[i].depth;
		bool first = nodes[i - 1].depth < depth;

		page_number(encoder->bytes, first ? number : number - before[depth]);
		before[depth] = number;
	}
}

static uint64_t rest_of(const struct flame_tree *tree, uint32_t i, bool base)
{
	const struct flame_node *node = &tree->nodes[i];
	uint64_t rest = base ? node->base_total : node->total;

	for (uint32_t c = i + 1; c < node->end; c = tree->nodes[c].end) {
		uint64_t total = base ? tree->nodes[c].base_total : tree->nodes[c].total;

		rest = rest > total ? rest - total : 0;
	}
	return rest;
}

static void put_counts(struct encoder *encoder, bool base)
{
	const struct flame_tree *tree = encoder->tree;
	bool hides = false;

	for (uint32_t i = 0; i < tree->n_nodes; i++) {
		uint64_t rest = rest_of(tree, i, base);

		hides |= rest > (base ? tree->nodes[i].base_self : tree->nodes[i].self);
		page_number(encoder->bytes, rest);
	}
	page_number(encoder->bytes, hides);
	for (uint32_t i = 0; hides && i < tree->n_nodes; i++) {
		uint64_t rest = rest_of(tree, i, base);
		uint64_t self = base ? tree->nodes[i].base_self : tree->nodes[i].self;

		page_number(encoder->bytes, rest > self ? rest - self : 0);
	}
}

static int put_nodes(struct encoder *encoder)
{
	const struct flame_tree *tree = encoder->tree;
	own(own_free) uint32_t *before = calloc((size_t)tree->max_depth + 1, sizeof(*before));
	bool compare = tree->nodes[0].base_total > 0;

	if (!before)
		return -ENOMEM;
	page_number(encoder->bytes, tree->n_nodes);
	put_steps(encoder);
	put_node_frames(encoder, before);
	put_counts(encoder, false);
	page_number(encoder->bytes, compare);
	if (compare)
		put_counts(encoder, true);
	return 0;
}

int page_data(const struct profile *profile, const struct flame_frames *frames,
	      const struct flame_tree *tree, const struct page_options *options,
	      struct bytes *bytes)
{
	struct encoder encoder = { .frames = frames, .tree = tree, .bytes = bytes };
	int r;

	bytes_string(bytes, "STF1");
	put_head(&encoder, profile, options);
	r = number_frames(&encoder);
	if (r == 0)
		r = put_frames(&encoder);
	if (r == 0)
		r = put_nodes(&encoder);
	page_number(bytes, options->timeline != NULL);
	if (r == 0 && options->timeline)
		r = page_times(options->timeline, profile, tree, bytes);
	free(encoder.number_of);
	free(encoder.used);
	free(encoder.strings);
	index_free(&encoder.index);
	return r < 0 ? r : bytes->failed;
}
