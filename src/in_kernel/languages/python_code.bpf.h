/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The code objects of CPython: their ids and names, and which of them are known from other walks. A
 * known one is not read again if it is certain that it is the one that was met.
 */
#ifndef STACKTALLY_LANGUAGES_PYTHON_CODE_BPF_H
#define STACKTALLY_LANGUAGES_PYTHON_CODE_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/hints.h"
#include "bpf/interpreter_wire.h"
#include "bpf/scratch.bpf.h"
#include "languages/interp_names.bpf.h"
#include "languages/interp_run.bpf.h"

#define PYTHON_TRIES	       64 /* one time in so many, a function's number is looked for */
#define PYTHON_TIMES_APART     32 /* so often a function is read alone, once it was so */
#define PYTHON_PAGE	       4096ull
#define PYTHON_STRING_CAPACITY 128 /* bytes of a string that are read first, ... */
#define PYTHON_SHORT_TEXT      64  /* ... and characters that are hashed there */

/* Finds a string's characters. False: it cannot be read, or is no string. */
static __always_inline bool python_find_text(const struct interpreter_walk *interp, __u64 string,
					     struct found_text *ret_text)
{
	const struct wire_python *python = &interp->python;
	__u64 type, length = 0;
	__u32 state = 0, kind;

	if (bpf_probe_read_user(&type, sizeof(type), (const void *)(string + python->type)) ||
	    type != python->string_type + interp->bias ||
	    bpf_probe_read_user(&length, sizeof(length),
				(const void *)(string + python->string_length)) ||
	    bpf_probe_read_user(&state, sizeof(state),
				(const void *)(string + python->string_state)))
		return false;
	kind = state >> (python->string_kind_bit & 31) & 7;
	if (!(state >> (python->string_compact_bit & 31) & 1) ||
	    (kind != 1 && kind != 2 && kind != 4) || length > 1 << 20)
		return false;
	ret_text->from = string + (state >> (python->string_ascii_bit & 31) & 1
					   ? python->string_ascii_size
					   : python->string_compact_size);
	ret_text->size = length * kind;
	ret_text->kind = kind;
	return true;
}

/*
 * The hash of a short string of ASCII characters in the walk's `code`, where `size` bytes of it
 * are; 0: it is another one.
 */
static __always_inline __u64 python_short_hash(const struct interpreter_walk *interp, __u64 size)
{
	const struct wire_python *python = &interp->python;
	__u64 length = CODE_WORD(interp->code, python->string_length), hash;
	__u32 state = CODE_INT(interp->code, python->string_state), at;
	const __u64 *words;

	if (!(state >> (python->string_compact_bit & 31) &
	      state >> (python->string_ascii_bit & 31) & 1) ||
	    length > PYTHON_SHORT_TEXT || python->string_ascii_size + length > size)
		return 0;
	at = python->string_ascii_size % 64;
	words = (const void *)(interp->code + at);
	hash = length;
	for (__u32 i = 0; i < PYTHON_SHORT_TEXT / sizeof(__u64) && i * sizeof(__u64) < length;
	     i++) {
		__u64 left = length - i * sizeof(__u64), word = words[i];

		if (left < sizeof(__u64))
			word <<= 64 - 8 * left;
		hash = (hash ^ word) * 0x9fb21c651e98df25ull;
		hash ^= hash >> 32;
		OPAQUE(hash);
	}
	return hash | 1;
}

/*
 * A hash of a string's characters, as far as they would be sent: the interpreter's own, if it has
 * one. The same addresses may hold other strings later. A global function: verified once.
 */
__noinline __u64 python_text_hash(__u32 number, __u64 string, __u32 end)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_PYTHON, number);
	__u64 size = smaller(PYTHON_PAGE - string % PYTHON_PAGE, PYTHON_STRING_CAPACITY), hash;
	struct found_text text = { 0 };

	if (!slot)
		return 0;
	OPAQUE(size);
	if (size > PYTHON_STRING_CAPACITY ||
	    bpf_probe_read_user(slot->interp.code, size, (const void *)string))
		return 0;
	hash = CODE_WORD(slot->interp.code, slot->interp.python.string_hash);
	if (slot->interp.python.string_hash + sizeof(hash) > size &&
	    !read_word(&hash, string + slot->interp.python.string_hash))
		return 0;
	if (hash != ~0ull)
		return hash;
	hash = python_short_hash(&slot->interp, size);
	if (hash)
		return hash;
	if (!python_find_text(&slot->interp, string, &text) ||
	    !copy_text(&text, end, slot->interp.message.name, WIRE_SCRIPT_TEXT))
		return 0;
	return hash_of_copy(slot, &text);
}

/* Sends the name of the function found last. A global function, which the verifier checks once. */
__noinline int python_send_name(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_PYTHON, number);
	struct found_text name = { 0 }, file = { 0 };
	struct interpreter_walk *interp;

	if (!slot || !has_room_for_names())
		return 0;
	interp = &slot->interp;
	if (python_find_text(interp, interp->name, &name) &&
	    python_find_text(interp, interp->file, &file) &&
	    copy_text(&name, false, interp->message.name, WIRE_SCRIPT_TEXT) &&
	    copy_text(&file, true, interp->message.file, WIRE_SCRIPT_TEXT))
		send_message(interp, &name, &file);
	return 0;
}

/*
 * Sets what tells the code object from others that were at its address: its number, or for want of
 * one its strings.
 */
static __always_inline void python_take_content(struct interpreter_walk *interp, __u32 number,
						__u32 version)
{
	interp->content = version;
	if (LIKELY(interp->content))
		return;
	if (interp->name != interp->last_name) {
		interp->last_name_hash = python_text_hash(number, interp->name, false);
		interp->last_name = interp->name;
	}
	if (interp->file != interp->last_file) {
		interp->last_file_hash = python_text_hash(number, interp->file, true);
		interp->last_file = interp->file;
	}
	interp->content = interp->last_name_hash * 0xd6e8feb86659fd93ull ^ interp->last_file_hash;
}

/*
 * Reads a code object into `known`, and sends its name if that was not sent yet. Returns 0 when it
 * did. A global function, which the verifier checks once; `at` is the place in `scripts`.
 */
__noinline int python_take_code(__u32 number, __u64 code, __u32 at)
{
	struct scratch *slot = slot_of(LANGUAGE_PYTHON, number);
	const struct wire_python *python;
	struct interpreter_walk *interp;
	struct known_script *known;
	__u64 size, first;
	__u32 version = 0;

	if (!slot)
		return -1;
	interp = &slot->interp;
	python = &interp->python;
	size = python->code_bytes;
	OPAQUE(size);
	if (size > CODE_CAPACITY || bpf_probe_read_user(interp->code, size, (const void *)code) ||
	    CODE_WORD(interp->code, python->type) != python->code_type + interp->bias)
		return -1;
	interp->name = CODE_WORD(interp->code, python->code_name);
	interp->file = CODE_WORD(interp->code, python->code_file);
	interp->line = CODE_INT(interp->code, python->code_line);
	first = code + size + 2ull * CODE_INT(interp->code, python->code_first);
	if (python->code_version)
		version = CODE_INT(interp->code, python->code_version);
	if (version >= interp->python_walk.next_version)
		interp->python_walk.made = 0; /* it counts something else */
	python_take_content(interp, number, version);
	interp->id = code_id(interp, code, interp->name, interp->file);
	if (!is_sent(interp))
		python_send_name(number);
	known = &interp->codes[at % KNOWN_SCRIPTS];
	if (known->code != code || known->seed != interp->seed)
		known->function = 0;
	known->seed = interp->seed;
	known->made = interp->python_walk.made;
	known->version = version && is_sent(interp) ? version : 0;
	known->code = code;
	known->walk = interp->walk;
	known->id = interp->id;
	known->first = first;
	return 0;
}

/* What tells in `sent_scripts` that a function's table was sent: no id, which are shorter. */
#define TABLE_OF(function) ((function) | 1ull << 63)

/*
 * Copies the table of lines of a code object behind struct wire_script_place, and sets its size and
 * form. Without a size there is none, as it is too large or cannot be read.
 */
static __always_inline void python_take_table(struct scratch *slot, struct wire_script_place *place,
					      __u64 code)
{
	const struct wire_python *python = &slot->interp.python;
	__u64 table, size;

	if (!read_word(&table, code + python->code_lines) ||
	    !read_word(&size, table + python->bytes_size))
		return;
	if (!size && place->form == WIRE_LINES_PAIRS)
		place->form = WIRE_LINES_EMPTY;
	OPAQUE(size);
	if (size <= WIRE_LINES_MAX &&
	    bpf_probe_read_user(&slot->frames[LINES_AT + sizeof(*place) / sizeof(__u64)], size,
				(const void *)(table + python->bytes_text)) == 0)
		place->size = size;
}

/* Sends an instruction of a function, and the function's table of lines if that was not sent. */
__noinline int python_send_place(__u32 number, __u64 function, __u32 offset, __u64 code)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_PYTHON, number);
	__u64 table = TABLE_OF(function), id = place_id(function, offset), size;
	struct wire_script_place *place;
	__u32 form;

	if (!slot || !has_room_for_names() || !was_sent(&slot->interp, function))
		return 0;
	place = (void *)&slot->frames[LINES_AT];
	form = slot->interp.python.form;
	place->id = id;
	place->function = function;
	place->offset = offset;
	place->size = 0;
	place->form = form == WIRE_PYTHON_CHAIN	    ? WIRE_LINES_PAIRS
		      : form == WIRE_PYTHON_OBJECTS ? WIRE_LINES_RANGES
						    : WIRE_LINES_LOCATIONS;
	place->kind = WIRE_KIND_PLACE;
	if (!was_sent(&slot->interp, table))
		python_take_table(slot, place, code);
	size = sizeof(*place) + (place->size + 7) / 8 * 8;
	OPAQUE(size);
	if (size > sizeof(*place) + WIRE_LINES_MAX ||
	    bpf_ringbuf_output(&ring, place, size, BPF_RB_NO_WAKEUP))
		return 0;
	if (place->size)
		note_sent(&slot->interp, table);
	note_sent(&slot->interp, id);
	return 0;
}

/*
 * The id of a known function in the stack: with lines, of the instruction in it, at `offset` from
 * the code object's first one.
 */
static __always_inline __u64 python_id_at(struct interpreter_walk *interp, __u32 number,
					  const struct known_script *known, __u64 code,
					  __u32 offset)
{
	__u64 function = known->id;

	if (!config_has(WIRE_LINES))
		return function;
	interp->id = place_id(function, offset);
	if (!is_sent(interp))
		python_send_place(number, function, offset, code);
	return interp->id;
}

/*
 * Notes where the next `function` of the stack is if a function that was read with those beside it
 * was the only one that was needed: on its other side, or far away. A wrong note costs time only.
 */
static __always_inline void python_learn_beside(struct known_script *known, __u64 function)
{
	if (function - known->function < PYTHON_FUNCTIONS)
		known->above = 1;
	else if (known->function - function < PYTHON_FUNCTIONS)
		known->above = 0;
	else
		known->apart = PYTHON_TIMES_APART;
}

/*
 * Copies a function, which runs codes[at], with the memory beside it, in one page: CPython keeps
 * objects of a size together, and those of a module are made one after the other. Of a function
 * that had no others beside it the last time, only itself: large copies take longer. Returns where
 * in the copy it is; -1: it cannot be read.
 */
__noinline int python_move_functions(__u32 number, __u64 function, __u32 at)
{
	struct scratch *slot = slot_of(LANGUAGE_PYTHON, number);
	__u64 below, size = PYTHON_FUNCTION_BYTES;
	struct python_functions *functions;
	struct known_script *known;

	if (!slot)
		return -1;
	functions = &slot->interp.python_walk.functions;
	if (functions->used == 1 && functions->last)
		python_learn_beside(&slot->interp.codes[functions->of % KNOWN_SCRIPTS], function);
	functions->used = 0;
	functions->of = at;
	known = &slot->interp.codes[at % KNOWN_SCRIPTS];
	if (known->apart) {
		known->apart--;
		below = 0;
	} else {
		below = smaller(function % PYTHON_PAGE, known->above ? 0 : PYTHON_FUNCTIONS);
		size = PYTHON_PAGE - (function - below) % PYTHON_PAGE;
		if (size < below + PYTHON_FUNCTION_BYTES)
			size = below + PYTHON_FUNCTION_BYTES; /* it is in the next page, too */
		size = smaller(size, PYTHON_FUNCTIONS + PYTHON_FUNCTION_BYTES);
	}
	functions->from = function - below;
	functions->last = size - PYTHON_FUNCTION_BYTES;
	OPAQUE(size);
	if (size > PYTHON_FUNCTIONS + PYTHON_FUNCTION_BYTES ||
	    bpf_probe_read_user(functions->bytes, size, (const void *)functions->from)) {
		functions->from = 0;
		functions->last = 0;
		return -1;
	}
	return below;
}

/*
 * The number of a function, if it runs that code object; else 0. CPython 3.11 numbers
 * functions, not code objects. A function gets no other code without losing its number, and no
 * other one gets it.
 */
static __always_inline __u32 python_function_version(struct interpreter_walk *interp, __u32 number,
						     __u64 function,
						     const struct known_script *known)
{
	const struct wire_python *python = &interp->python;
	__u64 at = function - interp->python_walk.functions.from;
	const __u8 *copy;

	if (!function || at > interp->python_walk.functions.last)
		at = (__s64)python_move_functions(number, function, known - interp->codes);
	OPAQUE(at);
	if (at > PYTHON_FUNCTIONS)
		return 0;
	interp->python_walk.functions.used++;
	copy = interp->python_walk.functions.bytes + at;
	return CODE_WORD(copy, python->function_code) == known->code
		       ? CODE_INT(copy, python->function_version)
		       : 0;
}

/*
 * Notes the function that runs codes[at], which was read just now: if it has a number, that is what
 * will be read of both. It gets it only when it was called some times, or never. A global function,
 * which the verifier checks once.
 */
__noinline int python_note_function(__u32 number, __u64 function, __u32 at)
{
	struct scratch *slot = slot_of(LANGUAGE_PYTHON, number);
	struct interpreter_walk *interp;
	struct known_script *known;

	if (!slot)
		return 0;
	interp = &slot->interp;
	known = &interp->codes[at % KNOWN_SCRIPTS];
	if (known->function != function) {
		known->function = function;
		known->seen = 0;
		return 0;
	}
	interp->id = known->id;
	known->seen++;
	if ((known->seen % PYTHON_TRIES == 0 || !(known->seen & (known->seen - 1))) &&
	    is_sent(interp))
		known->version = python_function_version(interp, number, function, known);
	return 0;
}

/* Whether what is known of a code object, which `function` runs, holds in this walk. */
static __always_inline bool python_is_known(struct interpreter_walk *interp, __u32 number,
					    struct known_script *known, __u64 code, __u64 function)
{
	const struct wire_python *python = &interp->python;
	__u32 version = 0;

	if (known->code != code)
		return false;
	if (known->walk == interp->walk)
		return true;
	if (!known->version || known->seed != interp->seed)
		return false;
	if (known->made != interp->python_walk.made || !interp->python_walk.made) {
		if (python->function_version)
			version = known->function == function
					  ? python_function_version(interp, number, function, known)
					  : 0;
		else
			bpf_probe_read_user(&version, sizeof(version),
					    (const void *)(code + python->code_version));
		if (version != known->version)
			return false;
		known->made = interp->python_walk.made;
	}
	known->walk = interp->walk;
	return true;
}

/* Makes a code object that `function` runs a known one. False: it cannot be read. */
static __always_inline bool python_know(struct interpreter_walk *interp, __u32 number, __u64 code,
					__u64 function, struct known_script **ret_known)
{
	__u32 at = code_place(interp, code);

	OPAQUE(at);
	interp->python_walk.met[interp->python_walk.n_met++ % MET_SCRIPTS] = at;
	*ret_known = &interp->codes[at % KNOWN_SCRIPTS];
	if (LIKELY(python_is_known(interp, number, *ret_known, code, function)))
		return true;
	if (python_take_code(number, code, at))
		return false;
	if (interp->python.function_version)
		python_note_function(number, function, at);
	return true;
}

#endif
