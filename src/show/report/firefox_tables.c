// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "report/firefox_internal.h"
#include "view/frame_text.h"
#include "view/json_text.h"

#define NONE UINT32_MAX

int firefox_tables_make(const struct profile *profile, struct firefox_tables *ret_tables)
{
	size_t n = (size_t)profile->n_frames + STACK_N_MARKS;

	*ret_tables = (struct firefox_tables){
		.profile = profile,
		.frames = reallocarray(NULL, n, sizeof(*ret_tables->frames)),
		.number_of = reallocarray(NULL, n, sizeof(*ret_tables->number_of)),
	};
	if (!ret_tables->frames || !ret_tables->number_of)
		return -ENOMEM;
	memset(ret_tables->number_of, 0xff, n * sizeof(*ret_tables->number_of));
	return 0;
}

void firefox_tables_clear(struct firefox_tables *tables)
{
	free(tables->frames);
	free(tables->number_of);
	free(tables->stacks);
	index_free(&tables->index);
	*tables = (struct firefox_tables){ 0 };
}

void firefox_tables_reset(struct firefox_tables *tables)
{
	for (uint32_t i = 0; i < tables->n_frames; i++)
		tables->number_of[tables->frames[i]] = NONE;
	tables->n_frames = tables->n_stacks = 0;
	index_free(&tables->index);
}

static uint32_t frame_number(struct firefox_tables *tables, uint32_t frame)
{
	if (tables->number_of[frame] == NONE) {
		tables->number_of[frame] = tables->n_frames;
		tables->frames[tables->n_frames++] = frame;
	}
	return tables->number_of[frame];
}

static int add_node(struct firefox_tables *tables, uint32_t frame, uint32_t *prefix)
{
	uint64_t hash = hash_u64((uint64_t)*prefix << 32 | frame);
	struct index_cursor cursor;
	int r;

	for (uint32_t at = index_first(&tables->index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&tables->index, &cursor)) {
		if (tables->stacks[at].frame == frame && tables->stacks[at].prefix == *prefix) {
			*prefix = at;
			return 0;
		}
	}
	r = grow(&tables->stacks, &tables->stack_capacity, (size_t)tables->n_stacks + 1);
	if (r == 0)
		r = index_add(&tables->index, hash, tables->n_stacks);
	if (r < 0)
		return r;
	tables->stacks[tables->n_stacks] = (struct firefox_stack){ frame, *prefix };
	*prefix = tables->n_stacks++;
	return 0;
}

int firefox_tables_add(struct firefox_tables *tables, const uint32_t *list, uint32_t n,
		       uint32_t *ret_stack)
{
	uint32_t at = NONE;
	int r = 0;

	while (r == 0 && n-- > 0)
		r = add_node(tables, frame_number(tables, list[n]), &at);
	*ret_stack = at;
	return r;
}

/* ---- text ---- */

/* The frame, or NULL: it is a mark. */
static const struct names_frame *frame_of(const struct firefox_tables *tables, uint32_t number)
{
	uint32_t frame = tables->frames[number];

	return frame < tables->profile->n_frames ? &tables->profile->frames[frame].is : NULL;
}

static const char *name_of(const struct firefox_tables *tables, uint32_t number)
{
	const struct names_frame *is = frame_of(tables, number);

	return is ? frame_text_name(is)
		  : stack_mark_text(tables->frames[number] - tables->profile->n_frames);
}

static const char *module_of(const struct firefox_tables *tables, uint32_t number)
{
	const struct names_frame *is = frame_of(tables, number);

	return is && is->module ? is->module : "";
}

static enum firefox_category category_of(const struct names_frame *is)
{
	if (!is)
		return FIREFOX_OTHER;
	if (is->flags & (NAMES_FRAME_BLOCKED | NAMES_FRAME_WAITING))
		return FIREFOX_OFF_CPU;
	if (is->language || is->flags & NAMES_FRAME_JIT)
		return FIREFOX_GENERATED;
	return is->flags & NAMES_FRAME_KERNEL ? FIREFOX_KERNEL : FIREFOX_USER;
}

static void begin_column(struct bytes *bytes, const char *name, bool first)
{
	if (!first)
		bytes_char(bytes, ',');
	json_key(bytes, name);
	bytes_char(bytes, '[');
}

/* A column of the same value in each row. */
static void put_same(struct bytes *bytes, const char *name, const char *value, uint32_t n)
{
	begin_column(bytes, name, false);
	for (uint32_t i = 0; i < n; i++) {
		if (i > 0)
			bytes_char(bytes, ',');
		bytes_string(bytes, value);
	}
	bytes_char(bytes, ']');
}

/* A column of n, n + step, ... */
static void put_counted(struct bytes *bytes, const char *name, uint32_t from, uint32_t step,
			uint32_t n, bool first)
{
	begin_column(bytes, name, first);
	for (uint32_t i = 0; i < n; i++) {
		if (i > 0)
			bytes_char(bytes, ',');
		bytes_decimal(bytes, from + (uint64_t)i * step);
	}
	bytes_char(bytes, ']');
}

static void put_length(struct bytes *bytes, uint32_t n)
{
	bytes_string(bytes, ",\"length\":");
	bytes_decimal(bytes, n);
	bytes_char(bytes, '}');
}

static void put_stacks(const struct firefox_tables *tables, struct bytes *bytes)
{
	bytes_string(bytes, ",\"stackTable\":{");
	begin_column(bytes, "frame", true);
	for (uint32_t i = 0; i < tables->n_stacks; i++) {
		if (i > 0)
			bytes_char(bytes, ',');
		bytes_decimal(bytes, tables->stacks[i].frame);
	}
	bytes_char(bytes, ']');
	begin_column(bytes, "prefix", false);
	for (uint32_t i = 0; i < tables->n_stacks; i++) {
		if (i > 0)
			bytes_char(bytes, ',');
		if (tables->stacks[i].prefix == NONE)
			bytes_string(bytes, "null");
		else
			bytes_decimal(bytes, tables->stacks[i].prefix);
	}
	bytes_char(bytes, ']');
	begin_column(bytes, "category", false);
	for (uint32_t i = 0; i < tables->n_stacks; i++) {
		if (i > 0)
			bytes_char(bytes, ',');
		bytes_decimal(bytes, category_of(frame_of(tables, tables->stacks[i].frame)));
	}
	bytes_char(bytes, ']');
	put_same(bytes, "subcategory", "0", tables->n_stacks);
	put_length(bytes, tables->n_stacks);
}

/* Each frame has a function of its own: the view has no two of the same function. */
static void put_frames(const struct firefox_tables *tables, struct bytes *bytes)
{
	uint32_t n = tables->n_frames;

	bytes_string(bytes, ",\"frameTable\":{");
	put_counted(bytes, "func", 0, 1, n, true);
	begin_column(bytes, "category", false);
	for (uint32_t i = 0; i < n; i++) {
		if (i > 0)
			bytes_char(bytes, ',');
		bytes_decimal(bytes, category_of(frame_of(tables, i)));
	}
	bytes_char(bytes, ']');
	put_same(bytes, "subcategory", "0", n);
	put_same(bytes, "address", "-1", n);
	put_same(bytes, "inlineDepth", "0", n);
	put_same(bytes, "nativeSymbol", "null", n);
	put_same(bytes, "innerWindowID", "null", n);
	put_same(bytes, "implementation", "null", n);
	put_same(bytes, "line", "null", n);
	put_same(bytes, "column", "null", n);
	put_length(bytes, n);
}

/* Of function and resource i, the names are the strings 2 i and 2 i + 1. */
static void put_functions(const struct firefox_tables *tables, struct bytes *bytes)
{
	uint32_t n = tables->n_frames;

	bytes_string(bytes, ",\"funcTable\":{");
	put_counted(bytes, "name", 0, 2, n, true);
	put_counted(bytes, "resource", 0, 1, n, false);
	put_same(bytes, "isJS", "false", n);
	put_same(bytes, "relevantForJS", "false", n);
	put_same(bytes, "fileName", "null", n);
	put_same(bytes, "lineNumber", "null", n);
	put_same(bytes, "columnNumber", "null", n);
	put_length(bytes, n);
	bytes_string(bytes, ",\"resourceTable\":{");
	put_counted(bytes, "name", 1, 2, n, true);
	put_same(bytes, "lib", "null", n);
	put_same(bytes, "host", "null", n);
	put_same(bytes, "type", "1", n); /* a library */
	put_length(bytes, n);
}

static void put_strings(const struct firefox_tables *tables, struct bytes *bytes)
{
	bytes_string(bytes, ",\n\"stringArray\":[");
	for (uint32_t i = 0; i < tables->n_frames; i++) {
		bytes_string(bytes, i > 0 ? ",\n" : "\n");
		json_string(bytes, name_of(tables, i));
		bytes_char(bytes, ',');
		json_string(bytes, module_of(tables, i));
	}
	bytes_char(bytes, ']');
}

void firefox_tables_put(const struct firefox_tables *tables, struct bytes *bytes)
{
	put_stacks(tables, bytes);
	put_frames(tables, bytes);
	put_functions(tables, bytes);
	bytes_string(bytes, ",\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],"
			    "\"functionSize\":[],\"length\":0}");
	put_strings(tables, bytes);
}
