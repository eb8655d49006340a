// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/jfr_chunk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define HEADER_SIZE 68
#define COMPRESSED  1u
#define NS	    1000000000

#define TYPE_METADATA  0
#define TYPE_CONSTANTS 1

#define DEPTH_MAX 16 /* values within values; those of the JDK have four */

/* Each value that a real file has takes at least a byte, and is read a few times. */
#define STEPS_PER_BYTE 64
#define STEPS_MORE     65536

static int damaged(struct jfr_chunk *chunk, const char *why)
{
	if (!chunk->why)
		chunk->why = why;
	return -EBADMSG;
}

static struct jfr_cursor cursor_at(const struct jfr_chunk *chunk, uint64_t at)
{
	return (struct jfr_cursor){ chunk->start + at, chunk->end, chunk->fixed, false };
}

/* A small file cannot have much read: its types may hold themselves, its strings each other. */
static int take_steps(struct jfr_chunk *chunk, uint64_t n)
{
	if (n > chunk->steps)
		return damaged(chunk, "types or names that hold too much");
	chunk->steps -= n;
	return 0;
}

static uint64_t offset_of(const struct jfr_chunk *chunk, const uint8_t *at)
{
	return (uint64_t)(at - chunk->start);
}

/* ---- events ---- */

/* An event with its type's number. */
struct event {
	uint64_t type;
	struct jfr_cursor at; /* behind it */
};

static int event_at(struct jfr_chunk *chunk, uint64_t at, struct event *ret_event)
{
	struct jfr_cursor cursor = cursor_at(chunk, at);
	uint32_t size = jfr_u32(&cursor);

	if (cursor.failed || size > (uint64_t)(chunk->end - chunk->start) - at ||
	    size < offset_of(chunk, cursor.at) - at)
		return damaged(chunk, "an event with an impossible size");
	cursor.end = chunk->start + at + size;
	ret_event->type = jfr_u64(&cursor);
	ret_event->at = cursor;
	return cursor.failed ? damaged(chunk, "an event that is too small") : 0;
}

int jfr_chunk_event(struct jfr_chunk *chunk, uint64_t *at, uint32_t *ret_type,
		    struct jfr_cursor *ret_event)
{
	struct event event;
	int r;

	if (*at == 0)
		*at = HEADER_SIZE;
	do {
		if (*at == offset_of(chunk, chunk->end))
			return 0;
		r = event_at(chunk, *at, &event);
		if (r < 0)
			return r;
		*at = offset_of(chunk, event.at.end);
	} while (event.type == TYPE_METADATA || event.type == TYPE_CONSTANTS);
	*ret_type = jfr_type_of(&chunk->types, event.type);
	*ret_event = event.at;
	return 1;
}

/* ---- header and types ---- */

static int read_header(struct jfr_chunk *chunk, size_t size)
{
	struct jfr_cursor cursor = cursor_at(chunk, JFR_MAGIC_SIZE);
	uint64_t chunk_size, constants;

	if (size < HEADER_SIZE || memcmp(chunk->start, JFR_MAGIC, JFR_MAGIC_SIZE) != 0)
		return damaged(chunk, "no header");
	if (jfr_fixed(&cursor, 2) != 2)
		return damaged(chunk, "a version other than 2");
	jfr_fixed(&cursor, 2);
	chunk_size = jfr_fixed(&cursor, 8);
	constants = jfr_fixed(&cursor, 8);
	chunk->metadata = jfr_fixed(&cursor, 8);
	chunk->start_ns = jfr_fixed(&cursor, 8);
	chunk->duration_ns = jfr_fixed(&cursor, 8);
	chunk->start_ticks = jfr_fixed(&cursor, 8);
	chunk->ticks_per_second = jfr_fixed(&cursor, 8);
	chunk->fixed = !(jfr_fixed(&cursor, 4) & COMPRESSED);
	if (chunk_size == 0 || constants == 0 || chunk->metadata == 0)
		return damaged(chunk, "its end, with all names, was not written");
	if (chunk_size > size || chunk_size < HEADER_SIZE)
		return damaged(chunk, "it is cut");
	if (chunk->metadata < HEADER_SIZE || chunk->metadata >= chunk_size ||
	    chunk->ticks_per_second == 0 || chunk->ticks_per_second > INT64_MAX)
		return damaged(chunk, "an impossible header");
	chunk->end = chunk->start + chunk_size;
	return 0;
}

int jfr_chunk_open(struct jfr_chunk *chunk, const char *bytes, size_t size, struct pool *pool)
{
	struct event event;
	int r;

	*chunk = (struct jfr_chunk){ .start = (const uint8_t *)bytes,
				     .end = (const uint8_t *)bytes + size,
				     .pool = pool };
	r = read_header(chunk, size);
	if (r == 0)
		r = event_at(chunk, chunk->metadata, &event);
	if (r < 0)
		return r;
	chunk->steps = (uint64_t)(chunk->end - chunk->start) * STEPS_PER_BYTE + STEPS_MORE;
	if (event.type != TYPE_METADATA)
		return damaged(chunk, "no types where they should be");
	r = jfr_types_read(&chunk->types, event.at, pool);
	return r == -EBADMSG ? damaged(chunk, "types that make no sense") : r;
}

void jfr_chunk_clear(struct jfr_chunk *chunk)
{
	jfr_types_clear(&chunk->types);
	free(chunk->constants);
	index_free(&chunk->index);
	chunk->constants = NULL;
	chunk->n_constants = chunk->constant_capacity = 0;
}

/* ---- values ---- */

static int skip_type(struct jfr_chunk *chunk, uint32_t at, struct jfr_cursor *cursor,
		     unsigned int depth);

static int skip_field(struct jfr_chunk *chunk, const struct jfr_field *field,
		      struct jfr_cursor *cursor, unsigned int depth)
{
	uint32_t n = field->list ? jfr_count(cursor) : 1;
	int r = 0;

	while (r == 0 && n-- > 0 && !cursor->failed) {
		if (field->constant)
			jfr_u64(cursor);
		else
			r = skip_type(chunk, field->type, cursor, depth);
	}
	return r == 0 && cursor->failed ? damaged(chunk, "a value that is cut") : r;
}

static int skip_type(struct jfr_chunk *chunk, uint32_t at, struct jfr_cursor *cursor,
		     unsigned int depth)
{
	const struct jfr_type *type;
	int r = 0;

	if (at == JFR_NO_TYPE)
		return damaged(chunk, "a field of an unknown type");
	if (depth == DEPTH_MAX)
		return damaged(chunk, "types within types without end");
	r = take_steps(chunk, 1);
	type = &chunk->types.list[at];
	switch (type->form) {
	case JFR_NUMBER:
		jfr_number(cursor, type->size);
		break;
	case JFR_FLOAT:
		jfr_fixed(cursor, type->size);
		break;
	case JFR_TEXT:
		jfr_string(cursor);
		break;
	default:
		for (uint32_t i = 0; r == 0 && i < type->n; i++)
			r = skip_field(chunk, &chunk->types.fields[type->first + i], cursor,
				       depth + 1);
		break;
	}
	return r;
}

int jfr_chunk_skip(struct jfr_chunk *chunk, const struct jfr_field *field,
		   struct jfr_cursor *cursor)
{
	return skip_field(chunk, field, cursor, 0);
}

int jfr_chunk_fields(struct jfr_chunk *chunk, uint32_t at, struct jfr_cursor cursor,
		     const char *const *names, struct jfr_value *ret_values, uint32_t n)
{
	const struct jfr_type *type = &chunk->types.list[at];
	const uint8_t *start = cursor.at;
	uint32_t found = 0;
	int r = 0;

	memset(ret_values, 0, n * sizeof(*ret_values));
	for (uint32_t i = 0; r == 0 && i < type->n && found < n; i++) {
		const struct jfr_field *field = &chunk->types.fields[type->first + i];

		for (uint32_t k = 0; k < n; k++)
			if (names[k] && !ret_values[k].field &&
			    strcmp(names[k], field->name) == 0) {
				ret_values[k] = (struct jfr_value){ field, cursor };
				found++;
			}
		r = skip_field(chunk, field, &cursor, 0);
	}
	return r < 0 ? r : take_steps(chunk, (uint64_t)(cursor.at - start));
}

int64_t jfr_chunk_number(const struct jfr_chunk *chunk, const struct jfr_value *value)
{
	struct jfr_cursor cursor = value->at;
	const struct jfr_type *type;
	uint64_t number;

	if (!value->field || value->field->list || value->field->constant ||
	    value->field->type == JFR_NO_TYPE)
		return 0;
	type = &chunk->types.list[value->field->type];
	if (type->form != JFR_NUMBER)
		return 0;
	number = jfr_number(&cursor, type->size);
	return type->size == 4 ? (int32_t)number : (int64_t)number;
}

uint64_t jfr_chunk_key(const struct jfr_value *value)
{
	struct jfr_cursor cursor = value->at;

	return value->field && value->field->constant && !value->field->list ? jfr_u64(&cursor) : 0;
}

/* ---- constants ---- */

static uint64_t hash_of(uint32_t type, uint64_t key)
{
	return hash_u64(key) ^ hash_u64((uint64_t)type << 32);
}

static const struct jfr_constant *find(const struct jfr_chunk *chunk, uint32_t type, uint64_t key)
{
	struct index_cursor cursor;

	for (uint32_t at = index_first(&chunk->index, hash_of(type, key), &cursor);
	     at != INDEX_NONE; at = index_next(&chunk->index, &cursor))
		if (chunk->constants[at].type == type && chunk->constants[at].key == key)
			return &chunk->constants[at];
	return NULL;
}

/* What is written again at the next flush is the same: the first stays. */
static int add_constant(struct jfr_chunk *chunk, const struct jfr_constant *constant)
{
	int r;

	if (find(chunk, constant->type, constant->key))
		return 0;
	r = grow(&chunk->constants, &chunk->constant_capacity, (size_t)chunk->n_constants + 1);
	if (r == 0)
		r = index_add(&chunk->index, hash_of(constant->type, constant->key),
			      chunk->n_constants);
	if (r == 0)
		chunk->constants[chunk->n_constants++] = *constant;
	return r;
}

/* Those of one type. */
static int read_pool(struct jfr_chunk *chunk, struct jfr_cursor *cursor)
{
	uint32_t type = jfr_type_of(&chunk->types, jfr_u64(cursor));
	uint32_t n = jfr_count(cursor);
	int r = 0;

	if (n > 0 && type == JFR_NO_TYPE && !cursor->failed)
		return damaged(chunk, "constants of an unknown type");
	while (r == 0 && n-- > 0 && !cursor->failed) {
		struct jfr_constant constant = { .key = jfr_u64(cursor), .type = type };

		constant.at = offset_of(chunk, cursor->at);
		r = skip_type(chunk, type, cursor, 0);
		if (r == 0 && !cursor->failed)
			r = add_constant(chunk, &constant);
	}
	return r < 0 ? r : cursor->failed ? damaged(chunk, "a constant that is cut") : 0;
}

static int read_checkpoint(struct jfr_chunk *chunk, struct jfr_cursor cursor)
{
	uint32_t n;
	int r = 0;

	jfr_u64(&cursor); /* when it was written, for how long, where the one before it is */
	jfr_u64(&cursor);
	jfr_u64(&cursor);
	jfr_fixed(&cursor, 1); /* why */
	n = jfr_count(&cursor);
	while (r == 0 && n-- > 0)
		r = read_pool(chunk, &cursor);
	return r == 0 && cursor.failed ? damaged(chunk, "a constant that is cut") : r;
}

int jfr_chunk_read_constants(struct jfr_chunk *chunk)
{
	uint64_t at = HEADER_SIZE;
	int r = 0;

	while (r == 0 && at < offset_of(chunk, chunk->end)) {
		struct event event;

		r = event_at(chunk, at, &event);
		if (r == 0 && event.type == TYPE_CONSTANTS)
			r = read_checkpoint(chunk, event.at);
		at = r == 0 ? offset_of(chunk, event.at.end) : at;
	}
	return r;
}

struct jfr_cursor jfr_chunk_constant(const struct jfr_chunk *chunk,
				     const struct jfr_constant *constant)
{
	return cursor_at(chunk, constant->at);
}

struct jfr_object jfr_chunk_object(const struct jfr_chunk *chunk, const struct jfr_value *value)
{
	const struct jfr_constant *constant;

	if (!value->field || value->field->list || value->field->type == JFR_NO_TYPE)
		return (struct jfr_object){ .type = JFR_NO_TYPE };
	if (!value->field->constant)
		return (struct jfr_object){ value->field->type, value->at };
	constant = find(chunk, value->field->type, jfr_chunk_key(value));
	return constant ? (struct jfr_object){ constant->type, cursor_at(chunk, constant->at) }
			: (struct jfr_object){ .type = JFR_NO_TYPE };
}

/* Strings that are constants themselves refer to no other. */
static int put_string(struct jfr_chunk *chunk, struct jfr_cursor *cursor, uint32_t type,
		      struct bytes *bytes)
{
	struct jfr_string string = jfr_string(cursor);
	int r;

	if (string.encoding == JFR_CONSTANT) {
		const struct jfr_constant *constant = find(chunk, type, string.key);
		struct jfr_cursor of;

		if (!constant)
			return 0;
		of = cursor_at(chunk, constant->at);
		string = jfr_string(&of);
	}
	r = take_steps(chunk, 1 + (uint64_t)(string.of.end - string.of.at));
	if (r == 0)
		jfr_string_put(&string, bytes);
	return r;
}

int jfr_chunk_text(struct jfr_chunk *chunk, const struct jfr_value *value, struct bytes *bytes)
{
	struct jfr_object object = jfr_chunk_object(chunk, value);
	const struct jfr_type *type;

	if (object.type == JFR_NO_TYPE)
		return 0;
	type = &chunk->types.list[object.type];
	if (type->form == JFR_STRUCT && type->n > 0) {
		const struct jfr_field *field = &chunk->types.fields[type->first];

		if (field->type == JFR_NO_TYPE || field->list)
			return 0;
		object = jfr_chunk_object(chunk, &(struct jfr_value){ field, object.at });
		if (object.type == JFR_NO_TYPE)
			return 0;
		type = &chunk->types.list[object.type];
	}
	return type->form == JFR_TEXT ? put_string(chunk, &object.at, object.type, bytes) : 0;
}

/* ---- times ---- */

int64_t jfr_chunk_time_ns(const struct jfr_chunk *chunk, int64_t ticks)
{
	__int128 since = (__int128)ticks - (__int128)chunk->start_ticks;
	__int128 at = (__int128)chunk->start_ns + since * NS / (__int128)chunk->ticks_per_second;

	return at < 0 ? 0 : at > INT64_MAX ? INT64_MAX : (int64_t)at;
}

uint64_t jfr_chunk_duration_ns(const struct jfr_chunk *chunk, int64_t ticks)
{
	__int128 ns = (__int128)ticks * NS / (__int128)chunk->ticks_per_second;

	return ns < 0 ? 0 : ns > INT64_MAX ? INT64_MAX : (uint64_t)ns;
}
