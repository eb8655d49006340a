// SPDX-License-Identifier: GPL-2.0-or-later
#include "drain/script_places.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"
#include "bpf/wire.h"
#include "drain/inlined_code.h"

#define TABLES_MAX (16u << 20) /* bytes of all tables: further functions have no lines */

struct table {
	uint64_t function;
	uint32_t at, size; /* in `bytes` */
	uint32_t form;
};

struct script_places {
	struct inlined_code *inlined;
	struct table *list;
	uint32_t n, capacity;
	struct index index;
	uint8_t *bytes;
	uint32_t used, bytes_room;
};

int script_places_new(struct script_places **ret_places)
{
	struct script_places *places = calloc(1, sizeof(*places));

	if (!places || inlined_code_new(&places->inlined) < 0) {
		free(places);
		return -ENOMEM;
	}
	*ret_places = places;
	return 0;
}

void script_places_free(struct script_places *places)
{
	if (!places)
		return;
	inlined_code_free(places->inlined);
	index_free(&places->index);
	free(places->list);
	free(places->bytes);
	free(places);
}

/* ---- tables ---- */

static const struct table *find(const struct script_places *places, uint64_t function)
{
	struct index_cursor cursor;

	for (uint32_t at = index_first(&places->index, hash_u64(function), &cursor);
	     at != INDEX_NONE; at = index_next(&places->index, &cursor))
		if (places->list[at].function == function)
			return &places->list[at];
	return NULL;
}

static int add(struct script_places *places, const struct wire_script_place *is)
{
	int r;

	if (!is->size || is->form >= WIRE_LINES_EMPTY || places->used + is->size > TABLES_MAX ||
	    find(places, is->function))
		return 0;
	r = grow(&places->list, &places->capacity, (size_t)places->n + 1);
	if (r == 0)
		r = grow(&places->bytes, &places->bytes_room, (size_t)places->used + is->size);
	if (r == 0)
		r = index_add(&places->index, hash_u64(is->function), places->n);
	if (r < 0)
		return r;
	places->list[places->n++] =
		(struct table){ is->function, places->used, is->size, is->form };
	memcpy(places->bytes + places->used, is + 1, is->size);
	places->used += is->size;
	return 0;
}

/* ---- lines ---- */

/* To 3.9: pairs of a step of the offset and a signed step of the line. */
static int64_t line_of_pairs(const uint8_t *table, size_t size, int64_t line, uint32_t offset)
{
	uint32_t at = 0;

	for (size_t i = 0; i + 2 <= size; i += 2) {
		at += table[i];
		if (at > offset)
			break;
		line += (int8_t)table[i + 1];
	}
	return line;
}

/* 3.10: pairs of a range's size and a signed step of the line; -128: the range has none. */
static int64_t line_of_ranges(const uint8_t *table, size_t size, int64_t line, uint32_t offset)
{
	uint32_t end = 0;

	for (size_t i = 0; i + 2 <= size; i += 2) {
		bool has_line = (int8_t)table[i + 1] != -128;

		line += has_line ? (int8_t)table[i + 1] : 0;
		end += table[i];
		if (offset < end)
			return has_line ? line : 0;
	}
	return 0;
}

/* A signed number in groups of six bits, the lowest first. */
static int64_t signed_number(const uint8_t *at, const uint8_t *end)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; at < end && shift < 36; shift += 6) {
		value |= (uint64_t)(*at & 63) << shift;
		if (!(*at++ & 64))
			break;
	}
	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* Kinds of entries: those in between are of columns only. */
enum { LOCATION_ONE_LINE = 10, LOCATION_NO_COLUMNS = 13, LOCATION_LONG = 14, LOCATION_NONE = 15 };

/* From 3.11 on: an entry's first byte has the highest bit, a kind and a range's size. */
static int64_t line_of_locations(const uint8_t *table, size_t size, int64_t line, uint32_t offset)
{
	const uint8_t *at = table, *end = table + size;
	uint32_t reached = 0;

	while (at < end) {
		unsigned int kind = *at >> 3 & 15;

		reached += ((*at++ & 7u) + 1) * 2;
		if (kind == LOCATION_NO_COLUMNS || kind == LOCATION_LONG)
			line += signed_number(at, end);
		else if (kind >= LOCATION_ONE_LINE && kind < LOCATION_NO_COLUMNS)
			line += kind - LOCATION_ONE_LINE;
		if (offset < reached)
			return kind == LOCATION_NONE ? 0 : line;
		while (at < end && !(*at & 0x80))
			at++;
	}
	return 0;
}

/* An unsigned number of HotSpot's: five bytes at most, the last of which is below 192. */
static uint32_t hotspot_number(const uint8_t **at, const uint8_t *end, uint32_t excluded)
{
	uint32_t value = 0;

	for (unsigned int shift = 0; *at < end && shift <= 24; shift += 6) {
		uint32_t byte = *(*at)++;

		value += (byte - excluded) << shift;
		if (byte < 192)
			break;
	}
	return value;
}

static int64_t hotspot_signed(const uint8_t **at, const uint8_t *end, uint32_t excluded)
{
	uint32_t value = hotspot_number(at, end, excluded);

	return value & 1 ? -(int64_t)(value >> 1) - 1 : (int64_t)(value >> 1);
}

/*
 * HotSpot: a step of the offset in the upper five bits and one of the line in the lower three, or
 * 255 and both as signed numbers; 0 ends it. Offsets do not ascend everywhere.
 */
static int64_t line_of_steps(const uint8_t *table, size_t size, uint32_t excluded, uint32_t offset)
{
	const uint8_t *at = table, *end = table + size;
	int64_t reached = 0, line = 0, found = 0, found_at = -1;

	while (at < end && *at) {
		uint8_t byte = *at++;

		if (byte == 0xff) {
			reached += hotspot_signed(&at, end, excluded);
			line += hotspot_signed(&at, end, excluded);
		} else {
			reached += byte >> 3;
			line += byte & 7;
		}
		if (reached <= offset && reached >= found_at) {
			found = line;
			found_at = reached;
		}
	}
	return found;
}

uint32_t code_line_at(enum wire_line_form form, const uint8_t *table, size_t size, uint32_t first,
		      uint32_t offset)
{
	int64_t line;

	if (form == WIRE_LINES_PAIRS)
		line = line_of_pairs(table, size, first, offset);
	else if (form == WIRE_LINES_RANGES)
		line = line_of_ranges(table, size, first, offset);
	else if (form == WIRE_LINES_STEPS || form == WIRE_LINES_STEPS_20)
		line = line_of_steps(table, size, form == WIRE_LINES_STEPS_20, offset);
	else
		line = line_of_locations(table, size, first, offset);
	return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

int script_places_take(struct script_places *places, struct scripts *scripts, const void *record,
		       size_t size)
{
	const struct wire_script_place *is = record;
	const struct table *table;
	struct script script;
	int r;

	if (size < sizeof(*is) || is->id < WIRE_SCRIPT_IDS || is->form >= WIRE_N_LINE_FORMS ||
	    is->size > WIRE_LINES_MAX || size - sizeof(*is) != (is->size + 7u) / 8 * 8)
		return -EPROTO;
	if (is->form == WIRE_LINES_INLINED)
		return inlined_code_add_place(places->inlined, scripts, is);
	r = add(places, is);
	if (r < 0 || !scripts_find(scripts, is->function, &script))
		return r;
	table = find(places, is->function);
	script.id = is->id;
	if (is->form == WIRE_LINES_EMPTY)
		script.at = script.line;
	else if (is->form == WIRE_LINES_KNOWN)
		script.at = is->offset;
	else if (table)
		script.at =
			code_line_at((enum wire_line_form)table->form, places->bytes + table->at,
				     table->size, script.line, is->offset);
	return scripts_add(scripts, &script);
}

int code_places_take_inlined(struct script_places *places, const void *record, size_t size)
{
	return inlined_code_take(places->inlined, record, size);
}
