/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The methods of Java: their ids and names. A method that is on a stack keeps its class, so what is
 * read of it is right at that time.
 */
#ifndef STACKTALLY_LANGUAGES_JAVA_NAMES_BPF_H
#define STACKTALLY_LANGUAGES_JAVA_NAMES_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/hints.h"
#include "bpf/interpreter_wire.h"
#include "bpf/scratch.bpf.h"
#include "languages/interp_names.bpf.h"
#include "languages/interp_run.bpf.h"
#include "languages/java_blobs.bpf.h"

#define JAVA_CONST_BYTES 64  /* of a ConstMethod, and ... */
#define JAVA_POOL_BYTES	 96  /* ... of a ConstantPool that are copied to `code`, in this order */
#define JAVA_NAME_ROOM	 256 /* bytes of each part of a name: a power of two */

/* Walks after which a method is read again: its memory may have another one. */
#define JAVA_METHOD_WALKS 512

/* A slot of a constant pool that is a symbol, which has a mark in its lowest bit. */
static __always_inline __u64 java_symbol(const struct java_walk *java, __u64 pool, __u32 index)
{
	__u64 symbol;

	return read_word(&symbol, pool + java->is.pool_size + 8ull * (index & 0xffff))
		       ? symbol & ~1ull
		       : 0;
}

/* Copies a symbol's characters, JAVA_NAME_ROOM - 1 at most; false: it cannot be read. */
static __always_inline bool java_copy_symbol(const struct java_walk *java, __u64 symbol, __u8 *to,
					     __u64 *ret_size, bool *cut)
{
	__u16 length;
	__u64 size;

	if (!symbol || bpf_probe_read_user(&length, sizeof(length),
					   (const void *)(symbol + java->is.symbol_length)))
		return false;
	size = smaller(length, JAVA_NAME_ROOM - 1);
	*cut |= size < length;
	*ret_size = size;
	OPAQUE(size);
	if (size > JAVA_NAME_ROOM - 1)
		return false;
	return bpf_probe_read_user(to, size, (const void *)(symbol + java->is.symbol_text)) == 0;
}

/*
 * Sends the name of the method found last: class `scope`, a dot, `name`, and `file`, all symbols. A
 * global function, which the verifier checks once.
 */
__noinline int java_send_name(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	struct found_text name = { .kind = WIRE_TEXT_UTF8 }, file = { .kind = WIRE_TEXT_UTF8 };
	struct interpreter_walk *interp;
	struct java_walk *java;
	__u64 size = 0, at;
	__u8 *text;

	if (!slot || !has_room_for_names())
		return 0;
	interp = &slot->interp;
	java = &interp->java_walk;
	text = interp->message.name;
	if (!java_copy_symbol(java, interp->scope, text, &size, &name.cut))
		return 0;
	at = size;
	OPAQUE(at);
	if (at >= JAVA_NAME_ROOM)
		return 0;
	text[at] = '.';
	at++;
	OPAQUE(at);
	if (at > JAVA_NAME_ROOM ||
	    !java_copy_symbol(java, interp->name, text + at, &name.size, &name.cut))
		return 0;
	name.size += size + 1;
	if (interp->file &&
	    !java_copy_symbol(java, interp->file, interp->message.file, &file.size, &file.cut))
		file.size = 0;
	send_message(interp, &name, &file);
	return 0;
}

/*
 * Makes a method known, and sends its name if that was not sent yet. Its id; 0: it cannot be read.
 * A global function, which the verifier checks once.
 */
__noinline __u64 java_method_id(__u32 number, __u64 method)
{
	struct scratch *slot = slot_of(LANGUAGE_JAVA, number);
	const struct wire_java_process *is;
	struct interpreter_walk *interp;
	struct known_script *known;
	__u64 constant, pool, holder, place;
	__u8 *copy;

	if (!slot)
		return 0;
	interp = &slot->interp;
	is = &interp->java_walk.is;
	if (!read_word(&constant, method + is->method_const))
		return 0;
	place = method / 8 * 0x9e3779b97f4a7c15ull >> 40;
	known = &interp->codes[place % KNOWN_SCRIPTS];
	if (known->code == method && known->first == constant && known->seed == interp->seed &&
	    known->made == is->number && interp->walk - known->walk < JAVA_METHOD_WALKS)
		return known->id;
	copy = interp->code;
	if (bpf_probe_read_user(copy, JAVA_CONST_BYTES, (const void *)constant))
		return 0;
	pool = AT(copy, is->const_pool, JAVA_CONST_BYTES, __u64);
	if (bpf_probe_read_user(copy + JAVA_CONST_BYTES, JAVA_POOL_BYTES, (const void *)pool))
		return 0;
	holder = AT(copy + JAVA_CONST_BYTES, is->pool_holder, JAVA_CONST_BYTES, __u64);
	if (!read_word(&interp->scope, holder + is->class_name))
		return 0;
	interp->line = AT(copy, is->const_name, JAVA_CONST_BYTES, __u16) |
		       (__u32)AT(copy, is->const_signature, JAVA_CONST_BYTES, __u16) << 16;
	interp->name = java_symbol(&interp->java_walk, pool, interp->line & 0xffff);
	if (!interp->name)
		return 0;
	interp->content = pool;
	interp->id = code_id(interp, method, constant, interp->scope);
	if (!is_sent(interp)) {
		__u32 index = AT(copy + JAVA_CONST_BYTES, is->pool_file, JAVA_CONST_BYTES, __u16);

		interp->file = index ? java_symbol(&interp->java_walk, pool, index) : 0;
		interp->line = 0;
		java_send_name(number);
	}
	known->code = method;
	known->first = constant;
	known->seed = interp->seed;
	known->made = is->number;
	known->walk = interp->walk;
	known->id = interp->id;
	return interp->id;
}

/* ---- lines ---- */

#define JAVA_MOST_BYTECODE 65536ull /* bytes of a method */
#define JAVA_NO_BYTECODE   (~0ull)

/* What tells in `sent_scripts` that a method's table of lines was sent: no id, which are shorter.
 */
#define JAVA_TABLE_OF(function) ((function) | 1ull << 63)

/*
 * Copies the table of lines of the method whose ConstMethod is in `code` behind struct
 * wire_script_place, with what lies behind it, and sets its size; without one there is none.
 */
static __always_inline void java_take_lines(struct scratch *slot, struct wire_script_place *place,
					    __u64 constant)
{
	const struct wire_java_process *is = &slot->interp.java_walk.is;
	const __u8 *copy = slot->interp.code;
	__u64 before =
		is->const_size + (__u64)AT(copy, is->const_code_size, JAVA_CONST_BYTES, __u16);
	__u64 all = 8ull * AT(copy, is->const_words, JAVA_CONST_BYTES, __u32), size;

	if (!(AT(copy, is->const_flags, JAVA_CONST_BYTES, __u16) & 1) || all <= before)
		return;
	size = smaller(all - before, WIRE_LINES_MAX);
	OPAQUE(size);
	if (size <= WIRE_LINES_MAX &&
	    bpf_probe_read_user(&slot->frames[LINES_AT + sizeof(*place) / sizeof(__u64)], size,
				(const void *)(constant + before)) == 0)
		place->size = size;
}

/* Sends where in a method it is, and the method's table of lines if that was not sent. */
static __always_inline void java_send_place(struct scratch *slot, __u64 function, __u32 bytecode,
					    __u64 constant)
{
	struct wire_script_place *place = (void *)&slot->frames[LINES_AT];
	__u64 table = JAVA_TABLE_OF(function), size;

	if (!has_room_for_names() || !was_sent(&slot->interp, function))
		return;
	place->id = place_id(function, bytecode);
	place->function = function;
	place->offset = bytecode;
	place->size = 0;
	place->form = slot->interp.java_walk.is.excluded ? WIRE_LINES_STEPS_20 : WIRE_LINES_STEPS;
	place->kind = WIRE_KIND_PLACE;
	if (!was_sent(&slot->interp, table))
		java_take_lines(slot, place, constant);
	size = sizeof(*place) + (place->size + 7) / 8 * 8;
	OPAQUE(size);
	if (size > sizeof(*place) + WIRE_LINES_MAX ||
	    bpf_ringbuf_output(&ring, place, size, BPF_RB_NO_WAKEUP))
		return;
	if (place->size)
		note_sent(&slot->interp, table);
	note_sent(&slot->interp, place_id(function, bytecode));
}

/*
 * The id in the stack of a method that has the id `function`, at an offset in its bytecode or at
 * the address of that. Without lines, or if that is not in the method, its own. A global function,
 * which the verifier checks once.
 */
__noinline __u64 java_id_at(__u32 number, __u64 method, __u64 function, __u64 bytecode)
{
	struct scratch *slot = slot_of(LANGUAGE_JAVA, number);
	const struct wire_java_process *is;
	__u64 constant, id;

	if (!slot || !config_has(WIRE_LINES) || bytecode == JAVA_NO_BYTECODE)
		return function;
	id = place_id(function, bytecode);
	if (bytecode < JAVA_MOST_BYTECODE && was_sent(&slot->interp, id))
		return id;
	is = &slot->interp.java_walk.is;
	if (!read_word(&constant, method + is->method_const) ||
	    bpf_probe_read_user(slot->interp.code, JAVA_CONST_BYTES, (const void *)constant))
		return function;
	if (bytecode >= JAVA_MOST_BYTECODE)
		bytecode -= constant + is->const_size;
	if (bytecode >= AT(slot->interp.code, is->const_code_size, JAVA_CONST_BYTES, __u16))
		return function;
	id = place_id(function, bytecode);
	if (!was_sent(&slot->interp, id))
		java_send_place(slot, function, bytecode, constant);
	return was_sent(&slot->interp, id) ? id : function;
}

/* ---- what was inlined ---- */

#define JAVA_POINTS 16 /* steps of the search: 2^16 points of a method at most */

/*
 * A number of 1 to 5 bytes at the beginning of the walk's `scope`, which is then what is behind it.
 * A global function, which the verifier checks once.
 */
__noinline __u32 java_take_number(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	__u32 value = 0, excluded;
	__u64 *bytes;

	if (!slot)
		return 0;
	bytes = slot->interp.java_walk.scope;
	excluded = slot->interp.java_walk.is.excluded;
	for (__u32 i = 0; i < 5; i++) {
		__u32 byte = bytes[0] & 0xff;

		bytes[0] = bytes[0] >> 8 | bytes[1] << 56;
		bytes[1] >>= 8;
		value += (byte - excluded) << 6 * i;
		if (byte < 192)
			break;
	}
	return value;
}

/* Where the tables of debug information of the blob in `header` are. */
static __always_inline void java_tables_of(const struct java_walk *java, struct java_tables *to)
{
	const struct wire_java_process *is = &java->is;
	__u64 blob = java->other.at, apart, changing;

	if (!is->debug_apart) {
		to->metadata = blob + JAVA_IN(java, is->metadata, __u32);
		to->scopes = JAVA_IN(java, is->scopes, __u64);
		to->metadata_end = to->scopes;
		to->points = blob + JAVA_IN(java, is->points, __u32);
		to->scopes_end = to->points;
		to->points_end = blob + JAVA_IN(java, is->points_end, __u32);
		return;
	}
	apart = JAVA_IN(java, is->apart, __u64);
	to->points = apart + JAVA_IN(java, is->points, __u32);
	to->scopes = apart + JAVA_IN(java, is->scopes, __u32);
	to->points_end = to->scopes;
	to->scopes_end = apart + JAVA_IN(java, is->apart_size, __u32);
	changing = JAVA_IN(java, is->changing, __u64);
	to->metadata = changing + JAVA_IN(java, is->metadata, __u32);
	to->metadata_end = changing + JAVA_IN(java, is->changing_size, __u32);
}

/*
 * Decodes the scopes from an offset on, the innermost first, to a chain of the walk: methods in the
 * upper half, where the next one is inlined in the lower. Returns how many there are; more than
 * JAVA_SCOPES: some are left out. A global function, which the verifier checks once.
 */
__noinline int java_chain(__u32 number, __u32 offset, __u32 which)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	struct java_walk *java;
	__u64 *chain;
	__u32 n = 0;

	if (!slot)
		return 0;
	java = &slot->interp.java_walk;
	chain = java->chains[which & 1];
	for (__u32 i = 0; i < JAVA_SCOPES && offset; i++) {
		__u64 at = java->tables.scopes + offset;
		__u32 method, bytecode;

		if (at >= java->tables.scopes_end ||
		    bpf_probe_read_user(java->scope, sizeof(java->scope), (const void *)at))
			return 0;
		offset = java_take_number(number);
		method = java_take_number(number);
		bytecode = java_take_number(number);
		chain[i] = (__u64)method << 32 | bytecode;
		n = i + 1;
	}
	return offset ? JAVA_SCOPES + 1 : n;
}

/* Finds the last debug point up to an offset in the code; its index. Points ascend. */
__noinline int java_point(__u32 number, __u32 offset)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	const struct java_tables *tables;
	__u64 low = 0, high;

	if (!slot)
		return 0;
	tables = &slot->interp.java_walk.tables;
	high = (tables->points_end - tables->points) / 16;
	for (__u32 i = 0; i < JAVA_POINTS && low + 1 < high; i++) {
		__u64 middle = (low + high) / 2;
		__s32 at;

		if (bpf_probe_read_user(&at, sizeof(at),
					(const void *)(tables->points + middle * 16)))
			return 0;
		BISECT(low, high, middle, (__s64)at, (__s64)(__s32)offset);
	}
	return (int)low;
}

/*
 * Whether both chains, of `a` and `b` functions, have the same one so far from the outermost: 2, at
 * the same place in it. A global function, which the verifier checks once.
 */
__noinline int java_same(__u32 number, __u32 a, __u32 b, __u32 from_outermost)
{
	const struct scratch *slot = seldom_slot_of(LANGUAGE_JAVA, number);
	const struct java_walk *java;
	__u64 one, two;

	if (!slot || from_outermost >= a || from_outermost >= b)
		return 0;
	java = &slot->interp.java_walk;
	one = java->chains[0][(a - 1 - from_outermost) % JAVA_SCOPES];
	two = java->chains[1][(b - 1 - from_outermost) % JAVA_SCOPES];
	return one >> 32 != two >> 32 ? 0 : one == two ? 2 : 1;
}

/*
 * How many functions, from the outermost on, both chains agree on. `*ret_near`: there are others,
 * or may be. `*ret_same`: they agree on where the innermost of these is, too.
 */
static __always_inline __u32 java_agree(__u32 number, __u32 a, __u32 b, __u32 *ret_near,
					__u32 *ret_same)
{
	__u32 n = 0, same = 2;

	for (__u32 i = 0; i < JAVA_SCOPES && same == 2; i++) {
		same = java_same(number, a, b, i);
		/* Without a branch: one more if they are the same. */
		n += (same + 1) >> 1 & 1;
		OPAQUE(n);
		OPAQUE(same);
	}
	*ret_same = n && same != 1;
	*ret_near = n < a || n < b;
	return n;
}

/*
 * Decodes what runs at java->pc: chains[0] has it, its outermost `n` functions. Returns n, and in
 * the bit above 16 whether others are not certain, for which chains[1] has those of the next point;
 * 0: nothing is known. A global function, which the verifier checks once.
 */
__noinline int java_functions(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_JAVA, number);
	struct java_walk *java;
	__u32 offset, point[4], a, b, near;
	__u64 at;

	if (!slot)
		return 0;
	java = &slot->interp.java_walk;
	if (java_find(number, java->pc) != JAVA_COMPILED)
		return 0;
	java_tables_of(java, &java->tables);
	offset = java->pc - java->other.code;
	if (java->tables.points_end - java->tables.points > JAVA_MAX_POINTS * 16 ||
	    java->tables.points_end - java->tables.points < 32)
		return 0;
	at = java->tables.points + (__u32)java_point(number, offset) * 16ull;
	if (bpf_probe_read_user(point, sizeof(point), (const void *)at))
		return 0;
	a = java_chain(number, point[1], 0);
	java->depth = a;
	java->same = 1;
	if (!java->exact && point[0] == offset)
		return a > JAVA_SCOPES ? 0 : a;
	if (bpf_probe_read_user(point, sizeof(point), (const void *)(at + 16)))
		return 0;
	b = java_chain(number, point[1], 1);
	java->next_depth = b;
	if (a > JAVA_SCOPES || b > JAVA_SCOPES)
		return 0;
	/* Before the first point, or behind the last one: the method itself, at least. */
	java->same = 0;
	a = java_agree(number, a, b, &near, &java->same);
	return a | near << 16;
}

#endif
