/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Code that V8 has generated, and the functions that were compiled into it. A code object says
 * where its instructions are, has a table of source positions, and of optimized code an array for
 * leaving it, with the functions and the places where they were called. Code and the array are
 * found anew for each frame; what they say crosses once, when code is first met, so that it is true
 * however soon the code is thrown away.
 */
#ifndef STACKTALLY_LANGUAGES_JAVASCRIPT_CODE_BPF_H
#define STACKTALLY_LANGUAGES_JAVASCRIPT_CODE_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/hints.h"
#include "bpf/interpreter_wire.h"
#include "bpf/scratch.bpf.h"
#include "languages/interp_names.bpf.h"
#include "languages/interp_run.bpf.h"
#include "languages/javascript_strings.bpf.h"

#define JAVASCRIPT_OBJECT_BYTES 64 /* of what closures share, and of code */

/* Copies a code object's members to program->code. Whether an address is in its instructions. */
static __always_inline bool is_in_code(struct interpreter_walk *interp, __u64 code, __u64 address)
{
	const struct wire_javascript *is = &interp->javascript;
	__u64 start;

	if (!is_object(code) ||
	    bpf_probe_read_user(interp->code, JAVASCRIPT_OBJECT_BYTES, (const void *)(code - 1)))
		return false;
	if (map_type(interp, *(__u64 *)interp->code) != is->type_code)
		return false;
	start = is->code_start ? AT(interp->code, is->code_start, JAVASCRIPT_OBJECT_BYTES, __u64)
			       : code - 1 + is->code_inline;
	interp->javascript_walk.start = start;
	return address - start <= AT(interp->code, is->code_size, JAVASCRIPT_OBJECT_BYTES, __u32);
}

/* ---- code by its instructions ---- */

/*
 * Instructions begin at a multiple of so many bytes, behind the members of an object, the first of
 * which is its map; maps of V8's own objects share a page of 256 KiB. The next word is the code
 * object's, if they are two.
 */
#define JAVASCRIPT_CODE_ALIGNMENT 32
#define JAVASCRIPT_MAP_PAGE_BITS  18
#define JAVASCRIPT_PIECE_BYTES	  1024
#define JAVASCRIPT_CODE_PIECES	  64 /* that are searched, before an instruction */

_Static_assert(sizeof(((struct frame_window *)0)->bytes) >= JAVASCRIPT_PIECE_BYTES,
	       "a window has room for a piece");

/* Places for such an object in a piece: so many at a time, for the verifier's sake. */
#define JAVASCRIPT_PLACES      (JAVASCRIPT_PIECE_BYTES / JAVASCRIPT_CODE_ALIGNMENT)
#define JAVASCRIPT_SOME_PLACES 4

/*
 * The last place before `limit`, of some from the `first` on in the piece of memory that begins at
 * `from`, which the window has a copy of, that may begin such an object, from 1; 0: there is none.
 * A global function, which the verifier checks once.
 */
__noinline int javascript_last_of(__u32 number, __u64 first, __u64 from, __u64 limit)
{
	const struct scratch *slot = seldom_slot_of(LANGUAGE_JAVASCRIPT, number);
	const __u64 *words;
	__u64 map, last = 0;

	OPAQUE(first);
	if (!slot || first > JAVASCRIPT_PLACES - JAVASCRIPT_SOME_PLACES)
		return 0;
	words = (const void *)slot->interp.window.bytes;
	map = slot->interp.javascript_walk.map;
	words += first * JAVASCRIPT_CODE_ALIGNMENT / sizeof(__u64);
	for (__u64 i = 0; i < JAVASCRIPT_SOME_PLACES; i++) {
		__u64 word = words[i * JAVASCRIPT_CODE_ALIGNMENT / sizeof(__u64)];
		__u64 at = from + (first + i) * JAVASCRIPT_CODE_ALIGNMENT;
		/* 0 if it may be. Without branches, which the verifier would follow. */
		__u64 not = (word ^ map) >> JAVASCRIPT_MAP_PAGE_BITS | ((word & 3) ^ 1) |
			    (limit - 1 - at) >> 63;

		not = (not | -not ) >> 63;
		last += (first + i + 1 - last) * (1 - not );
		OPAQUE(last);
	}
	return (int)last;
}

/* The same, of all places. */
__noinline int javascript_last_object(__u32 number, __u64 from, __u64 limit)
{
	int last = 0;

	for (__u64 i = 0; i < JAVASCRIPT_PLACES && !last; i += JAVASCRIPT_SOME_PLACES)
		last = javascript_last_of(number, JAVASCRIPT_PLACES - JAVASCRIPT_SOME_PLACES - i,
					  from, limit);
	return last;
}

/*
 * Looks at the last object before the address that a search for code has come to, which may be in
 * the piece before. Whether the search is over; `found` has its result. A global function, which
 * the verifier checks once, not in each round of the search.
 */
__noinline int javascript_search(__u32 number, __u64 address)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVASCRIPT, number);
	struct interpreter_walk *interp;
	struct javascript_search *search;
	__u64 code, at;
	__u32 type;

	if (!slot)
		return true;
	interp = &slot->interp;
	search = &interp->javascript_walk.search;
	if (search->limit == address || search->limit <= search->from) {
		search->from -= search->limit == address ? 0 : JAVASCRIPT_PIECE_BYTES;
		if (bpf_probe_read_user(interp->window.bytes, JAVASCRIPT_PIECE_BYTES,
					(const void *)search->from))
			return true;
	}
	at = (__u64)(__u32)javascript_last_object(number, search->from, search->limit);
	search->limit = search->from;
	if (!at)
		return false;
	at = (at - 1) * JAVASCRIPT_CODE_ALIGNMENT;
	OPAQUE(at);
	if (at > JAVASCRIPT_PIECE_BYTES - JAVASCRIPT_CODE_ALIGNMENT)
		return true;
	search->limit = search->from + at;
	type = map_type(interp, *(const __u64 *)(interp->window.bytes + at));
	code = *(const __u64 *)(interp->window.bytes + at + sizeof(__u64));
	if (type == interp->javascript.type_code)
		code = search->limit + 1;
	else if (!interp->javascript.type_stream || type != interp->javascript.type_stream)
		return false;
	search->found = is_in_code(interp, code, address) ? code : 0;
	return true;
}

/* The code object whose instructions an address is in; 0: none is found before it. */
static __always_inline __u64 javascript_find_code(struct scratch *slot, __u32 number, __u64 address)
{
	struct javascript_search *search = &slot->interp.javascript_walk.search;
	int over = false;

	*search = (struct javascript_search){
		.from = (address & ~(JAVASCRIPT_PIECE_BYTES - 1ull)) -
			slot->interp.javascript.code_inline % JAVASCRIPT_CODE_ALIGNMENT,
		.limit = address,
	};
	for (__u32 i = 0; i < JAVASCRIPT_CODE_PIECES && !over; i++) {
		over = javascript_search(number, address);
		OPAQUE(over);
	}
	return search->found;
}

/* ---- what code is ---- */

enum javascript_code {
	JAVASCRIPT_PLAIN,
	JAVASCRIPT_INLINES, /* functions are inlined in it, as javascript_walk says */
	JAVASCRIPT_OTHER,   /* it was not found, or is not the function's */
};

#define JAVASCRIPT_LEAVING_BYTES 96  /* of the array for leaving optimized code, ... */
#define JAVASCRIPT_LEAVING_ROOM	 128 /* ... in the window, which has room for more */

/* The same of the code in program->code, whose instructions an address is in. */
static __always_inline int javascript_kind_of_code(struct interpreter_walk *interp, __u64 shared,
						   __u64 address)
{
	struct javascript_walk *walk = &interp->javascript_walk;
	const struct wire_javascript *is = &interp->javascript;
	__u8 *words = interp->window.bytes;
	__u64 leaving, of;

	if ((AT(interp->code, is->code_flags, JAVASCRIPT_OBJECT_BYTES, __u32) & is->code_kinds) <=
	    is->code_baseline)
		return JAVASCRIPT_PLAIN;
	leaving = AT(interp->code, is->code_leaving, JAVASCRIPT_OBJECT_BYTES, __u64);
	if (!is_object(leaving) ||
	    bpf_probe_read_user(words, JAVASCRIPT_LEAVING_BYTES, (const void *)(leaving - 1)))
		return JAVASCRIPT_OTHER;
	/* Code has a function of its own; where that is another's, an object stands between. */
	of = AT(words, is->inlined_shared, JAVASCRIPT_LEAVING_ROOM, __u64);
	if (!interp->frame && of != shared && object_word(of, sizeof(__u64)) != shared)
		return JAVASCRIPT_OTHER;
	walk->n_inlined = AT(words, is->inlined_count, JAVASCRIPT_LEAVING_ROOM, __u64) >> 32;
	if (!walk->n_inlined)
		return JAVASCRIPT_PLAIN;
	walk->literals = AT(words, is->inlined_literals, JAVASCRIPT_LEAVING_ROOM, __u64);
	walk->places = AT(words, is->inlined_places, JAVASCRIPT_LEAVING_ROOM, __u64);
	walk->number = AT(words, is->inlined_id, JAVASCRIPT_LEAVING_ROOM, __u64);
	walk->table = AT(interp->code, is->code_positions, JAVASCRIPT_OBJECT_BYTES, __u64);
	walk->offset = address - walk->start;
	return JAVASCRIPT_INLINES;
}

/* Code is looked for again after so many walks of a slot. */
#define JAVASCRIPT_AGAIN 64

/* The known code of a piece of memory; no address of an object is like that. */
#define JAVASCRIPT_KNOWN_CODE(address) ((address) >> 8 | 1ull << 63)

/*
 * The code that a frame of a function, whose closures share `shared`, is in, an enum
 * javascript_code. It may be what was compiled first, what runs when the function is called now, or
 * neither: optimized code that is entered in the middle of a loop, or that was thrown away. A
 * global function, which the verifier checks once.
 */
__noinline int javascript_code_at(__u32 number, __u64 function, __u64 shared, __u64 address)
{
	struct scratch *slot = slot_of(LANGUAGE_JAVASCRIPT, number);
	__u64 key = JAVASCRIPT_KNOWN_CODE(address), code;
	const struct wire_javascript *is;
	struct interpreter_walk *interp;
	struct known_script *known;
	__u32 at;

	if (!slot)
		return JAVASCRIPT_OTHER;
	interp = &slot->interp;
	is = &interp->javascript;
	at = code_place(interp, key);
	OPAQUE(at);
	known = &interp->codes[at % KNOWN_SCRIPTS];
	if (LIKELY(known->code == key && known->seed == interp->seed)) {
		if (LIKELY(is_in_code(interp, known->first, address))) {
			known->walk = interp->walk;
			return javascript_kind_of_code(interp, shared, address);
		}
		if (!known->first && interp->walk - known->walk < JAVASCRIPT_AGAIN)
			return JAVASCRIPT_OTHER;
	}
	code = object_word(shared, is->shared_data);
	if (!is_in_code(interp, code, address)) {
		code = object_word(function, is->function_code);
		if (!is_in_code(interp, code, address))
			code = javascript_find_code(slot, number, address);
	}
	known->code = key;
	known->seed = interp->seed;
	known->first = code;
	known->walk = interp->walk;
	return code ? javascript_kind_of_code(interp, shared, address) : JAVASCRIPT_OTHER;
}

/* ---- sending code ---- */

/* The next function that was compiled into the code found last. */
static __always_inline __u64 javascript_literal(const struct interpreter_walk *interp, __u32 i)
{
	/* The array may not keep what it has: then another bit is set. */
	return object_word(interp->javascript_walk.literals,
			   2 * sizeof(__u64) + i * sizeof(__u64)) &
	       ~2ull;
}

/* What tells the code found last from others. */
static __always_inline __u64 javascript_code_id(struct interpreter_walk *interp, __u64 function)
{
	interp->line = 0;
	interp->content = interp->javascript_walk.number;
	return code_id(interp, LANGUAGE_JAVASCRIPT, interp->javascript_walk.start, function);
}

/*
 * The id of the place in the code found last, if the code was sent; 0. `function` is the id of what
 * it was compiled for. A global function, which the verifier checks once.
 */
__noinline __u64 javascript_place_in_code(__u32 number, __u64 function)
{
	struct scratch *slot = slot_of(LANGUAGE_JAVASCRIPT, number);
	struct wire_script_place place = { .form = WIRE_LINES_INLINED, .kind = WIRE_KIND_PLACE };
	struct interpreter_walk *interp;

	if (!slot)
		return 0;
	interp = &slot->interp;
	place.function = javascript_code_id(interp, function);
	place.offset = interp->javascript_walk.offset;
	place.id = place_id(place.function, place.offset);
	if (was_sent(interp, place.id))
		return place.id;
	if (!was_sent(interp, place.function) || !has_room_for_names() ||
	    bpf_ringbuf_output(&ring, &place, sizeof(place), BPF_RB_NO_WAKEUP))
		return 0;
	note_sent(interp, place.id);
	return place.id;
}

/* Bytes of an array of bytes; more than any has, if it cannot be read. */
static __always_inline __u64 javascript_bytes_size(__u64 bytes)
{
	__u64 size = object_word(bytes, sizeof(__u64)) >> 32;

	return is_object(bytes) ? size : ~0ull;
}

/*
 * Sends the code found last; the slot's struct wire_inlined_code has its functions. A global
 * function, which the verifier checks once.
 */
__noinline int javascript_send_code(__u32 number, __u64 function)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVASCRIPT, number);
	struct interpreter_walk *interp;
	struct wire_inlined_code *code;
	__u64 size, table;

	if (!slot || !has_room_for_names())
		return 0;
	interp = &slot->interp;
	code = (void *)&slot->frames[LINES_AT];
	code->id = javascript_code_id(interp, function);
	code->function = function;
	code->n_functions = interp->javascript_walk.n_inlined;
	code->kind = WIRE_KIND_INLINED;
	size = javascript_bytes_size(interp->javascript_walk.places);
	OPAQUE(size);
	if (size > sizeof(code->places) ||
	    bpf_probe_read_user(code->places, size,
				(const void *)(interp->javascript_walk.places - 1 + 16)))
		return 0;
	code->n_places = size / sizeof(code->places[0]);
	table = javascript_bytes_size(interp->javascript_walk.table);
	code->size = table;
	OPAQUE(table);
	if (!table || table > WIRE_INLINED_TABLE ||
	    bpf_probe_read_user(&slot->frames[LINES_AT + sizeof(*code) / sizeof(__u64)], table,
				(const void *)(interp->javascript_walk.table - 1 + 16)))
		return 0;
	size = sizeof(*code) + (table + 7) / 8 * 8;
	OPAQUE(size);
	if (size > sizeof(*code) + WIRE_INLINED_TABLE ||
	    bpf_ringbuf_output(&ring, code, size, BPF_RB_NO_WAKEUP))
		return 0;
	note_sent(interp, code->id);
	return 0;
}

#endif
