// SPDX-License-Identifier: GPL-2.0-or-later
#include "drain/inlined_code.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"

/* Bytes of all code: in further code, functions are not shown. */
#define CODE_BYTES_MAX (32u << 20)
#define DEPTH_MAX      64 /* functions that were compiled into each other */
#define PLACE_NONE     (-1)

/* Bits of V8's SourcePosition. */
#define POSITION_PLACE_SHIFT 31
#define POSITION_PLACE_MASK  0xffff /* a place, from 1 */

struct inlined_code {
	struct wire_inlined_code **list; /* each with its table */
	uint32_t n, capacity;
	struct index index; /* by id */
	size_t bytes;
};

int inlined_code_new(struct inlined_code **ret_inlined)
{
	*ret_inlined = calloc(1, sizeof(**ret_inlined));
	return *ret_inlined ? 0 : -ENOMEM;
}

void inlined_code_free(struct inlined_code *inlined)
{
	if (!inlined)
		return;
	for (uint32_t i = 0; i < inlined->n; i++)
		free(inlined->list[i]);
	index_free(&inlined->index);
	free(inlined->list);
	free(inlined);
}

static const struct wire_inlined_code *find(const struct inlined_code *inlined, uint64_t id)
{
	struct index_cursor cursor;

	for (uint32_t at = index_first(&inlined->index, hash_u64(id), &cursor); at != INDEX_NONE;
	     at = index_next(&inlined->index, &cursor))
		if (inlined->list[at]->id == id)
			return inlined->list[at];
	return NULL;
}

int inlined_code_take(struct inlined_code *inlined, const void *record, size_t size)
{
	const struct wire_inlined_code *is = record;
	struct wire_inlined_code *copy;
	int r;

	if (size < sizeof(*is) || is->id < WIRE_SCRIPT_IDS || is->size > WIRE_INLINED_TABLE ||
	    is->n_functions > WIRE_INLINED_FUNCTIONS || is->n_places > WIRE_INLINED_PLACES ||
	    size - sizeof(*is) != (is->size + 7u) / 8 * 8)
		return -EPROTO;
	if (inlined->bytes + size > CODE_BYTES_MAX || find(inlined, is->id))
		return 0;
	r = grow(&inlined->list, &inlined->capacity, (size_t)inlined->n + 1);
	if (r < 0)
		return r;
	copy = malloc(size);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, record, size);
	r = index_add(&inlined->index, hash_u64(is->id), inlined->n);
	if (r < 0) {
		free(copy);
		return r;
	}
	inlined->list[inlined->n++] = copy;
	inlined->bytes += size;
	return 0;
}

/* ---- the table of positions ---- */

/* A number of the table; false: it ends before. */
static bool read_number(const uint8_t **at, const uint8_t *end, int64_t *ret_number)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; *at < end && shift < 64; shift += 7) {
		uint8_t byte = *(*at)++;

		value |= (uint64_t)(byte & 127) << shift;
		if (!(byte & 128)) {
			*ret_number = (int64_t)(value >> 1 ^ -(value & 1));
			return true;
		}
	}
	return false;
}

int64_t inlined_place_at(const uint8_t *table, size_t size, uint32_t offset)
{
	const uint8_t *at = table, *end = table + size;
	uint64_t reached = UINT64_MAX, position = 0; /* the first step is from -1 */
	int64_t place = PLACE_NONE, steps, moved;

	while (read_number(&at, end, &steps) && read_number(&at, end, &moved)) {
		/* From V8 14 on, the number of steps is doubled instead. */
		reached += (uint64_t)(steps < 0 ? -(steps + 1) : steps >> 1);
		position += (uint64_t)moved;
		if (reached != UINT64_MAX && reached > offset)
			break;
		place = (int64_t)(position >> POSITION_PLACE_SHIFT & POSITION_PLACE_MASK) - 1;
	}
	return place;
}

/* ---- the functions at a place ---- */

/* The id of the place in the code: of its function and those that it was compiled into. */
static uint64_t id_of_place(const struct wire_inlined_code *code, int64_t place)
{
	uint64_t id = hash_u64(code->id ^ (uint64_t)(place + 1) << 48) & SCRIPT_ID(UINT64_MAX);

	return id < SCRIPT_IDS ? id + SCRIPT_IDS : id;
}

/* The place that a place is in. */
static int64_t outer_place(const struct wire_inlined_code *code, int64_t place)
{
	return (int64_t)(code->places[place].position >> POSITION_PLACE_SHIFT &
			 POSITION_PLACE_MASK) -
	       1;
}

#define FUNCTION_UNKNOWN UINT64_MAX /* in place of an id */

/* The id of the function at a place; 0: one of V8's own. */
static uint64_t function_at(const struct wire_inlined_code *code, int64_t place)
{
	int64_t function;

	if (place == PLACE_NONE)
		return code->function;
	function = code->places[place].function;
	return function >= 0 && function < code->n_functions ? code->functions[function]
							     : FUNCTION_UNKNOWN;
}

/* The functions at a place, and the ids of the places, from the innermost on. */
struct chain {
	struct script functions[DEPTH_MAX];
	uint32_t n;
};

/* A place is in one before it. Functions of V8's own, which have no names, are passed over. */
static bool find_chain(const struct wire_inlined_code *code, struct scripts *scripts, int64_t place,
		       struct chain *chain)
{
	for (chain->n = 0; chain->n < DEPTH_MAX;) {
		struct script *is = &chain->functions[chain->n];
		int64_t outer = PLACE_NONE;
		uint64_t function;

		if (place >= (int64_t)code->n_places)
			return false;
		if (place != PLACE_NONE)
			outer = outer_place(code, place);
		if (outer >= place && place != PLACE_NONE)
			return false;
		function = function_at(code, place);
		if (function && !scripts_find(scripts, function, is))
			return false;
		if (function) {
			is->id = id_of_place(code, place);
			chain->n++;
		}
		if (place == PLACE_NONE)
			return function != 0;
		place = outer;
	}
	return false;
}

/* Enters what stands for a function whose inlined functions are not known. */
static int add_reason(const struct wire_inlined_code *code, struct scripts *scripts, uint64_t id)
{
	struct script function;

	if (!scripts_find(scripts, code->function, &function))
		return 0;
	return scripts_add(scripts, &(struct script){ .id = id,
						      .reason = SCRIPT_INLINED,
						      .name = "",
						      .file = "",
						      .caller = function.id });
}

int inlined_code_add_place(const struct inlined_code *inlined, struct scripts *scripts,
			   const struct wire_script_place *place)
{
	const struct wire_inlined_code *code = find(inlined, place->function);
	struct chain chain;
	int r = 0;

	if (!code)
		return 0;
	if (!find_chain(code, scripts,
			inlined_place_at((const uint8_t *)(code + 1), code->size, place->offset),
			&chain))
		return add_reason(code, scripts, place->id);
	chain.functions[0].id = place->id;
	for (uint32_t i = 0; r == 0 && i < chain.n; i++) {
		chain.functions[i].caller = i + 1 < chain.n ? chain.functions[i + 1].id : 0;
		r = scripts_add(scripts, &chain.functions[i]);
	}
	return r;
}
