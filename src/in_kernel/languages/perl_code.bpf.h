/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The subs of Perl, and code that is in no sub: their ids and names. A sub's name is that of its
 * place in the symbol table, if it has one.
 */
#ifndef STACKTALLY_LANGUAGES_PERL_CODE_BPF_H
#define STACKTALLY_LANGUAGES_PERL_CODE_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/hints.h"
#include "bpf/interpreter_wire.h"
#include "bpf/scratch.bpf.h"
#include "languages/interp_names.bpf.h"
#include "languages/interp_run.bpf.h"

#define PERL_CAPACITY	   128 /* a power of two above, for the verifier */
#define PERL_CODE_BYTES	   112 /* of code; and of what names and packages refer to, at most */
#define PERL_HEAD_BYTES	   24  /* of any value: where it is, and its flags */
#define PERL_PACKAGE_TEXT  240
#define PERL_LONGEST_PARTS 8 /* paths are followed for so many times WIRE_SCRIPT_TEXT bytes */

#define PERL_WORD(copy, offset) AT(copy, offset, PERL_CAPACITY, __u64)
#define PERL_INT(copy, offset)	AT(copy, offset, PERL_CAPACITY, __u32)
#define PERL_BYTE(copy, offset) AT(copy, offset, PERL_CAPACITY, __u8)

/* Names of code that is in no sub; in `scope`, while `name` is 0. */
enum perl_place {
	PERL_PLACE_MAIN,
	PERL_PLACE_EVAL,
	PERL_PLACE_REQUIRE,
	PERL_PLACE_UNKNOWN, /* a sub without a name, as caller() has it */
	PERL_N_PLACES,
};

#define PERL_PLACE_TEXT 9 /* bytes of the longest */

static const struct perl_place_name {
	char text[PERL_PLACE_TEXT + 1];
	__u8 size;
} perl_places[PERL_N_PLACES] = {
	{ "{main}", 6 },
	{ "{eval}", 6 },
	{ "{require}", 9 },
	{ "(unknown)", 9 },
};

/* Finds a string of the symbol table. False: it cannot be read. */
static __always_inline bool perl_find_text(const struct interpreter_walk *interp, __u64 string,
					   struct found_text *ret_text)
{
	__u64 hash_and_length;
	__s32 length;

	if (!string || !read_word(&hash_and_length, string + interp->perl.hek_hash))
		return false;
	length = (__s32)(hash_and_length >> 32);
	if (length < 0 || length > 1 << 20)
		return false;
	ret_text->from = string + interp->perl.hek_text;
	ret_text->size = length;
	ret_text->kind = WIRE_TEXT_UTF8;
	return true;
}

/* A hash of such a string: Perl's own, of 32 bits, and its length; they are the same in all
 * threads. */
static __always_inline __u64 perl_text_hash(const struct interpreter_walk *interp, __u64 string)
{
	__u64 hash = 0;

	if (string)
		read_word(&hash, string + interp->perl.hek_hash);
	return hash;
}

/* What Perl calls the text of an eval: "(eval 12)". Shown without the number, as there are many. */
#define PERL_EVAL_FILE	     0x206c61766528ull /* "(eval " */
#define PERL_EVAL_FILE_BYTES 6
#define PERL_EVAL_SHOWN	     4 /* "eval" */

/*
 * Copies the path in `file`, or its end, to the message; returns its bytes, and
 * WIRE_SCRIPT_FILE_CUT above 16 bits; or -1. A global function, which the verifier checks once.
 */
__noinline int perl_copy_file(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_PERL, number);
	__u64 from, size = 0, word;
	__u8 *to;
	long part;

	if (!slot)
		return -1;
	to = slot->interp.message.file;
	from = slot->interp.file;
	if (!from)
		return 0;
	for (__u32 i = 0; i < PERL_LONGEST_PARTS; i++) {
		part = bpf_probe_read_user_str(to, WIRE_SCRIPT_TEXT, (const void *)(from + size));
		if (part <= 0)
			return -1;
		size += part - 1;
		if (part < WIRE_SCRIPT_TEXT)
			break;
	}
	if (size >= WIRE_SCRIPT_TEXT) {
		from += size - WIRE_SCRIPT_TEXT;
		if (bpf_probe_read_user(to, WIRE_SCRIPT_TEXT, (const void *)from))
			return -1;
		return WIRE_SCRIPT_TEXT | WIRE_SCRIPT_FILE_CUT << 16;
	}
	word = *(__u64 *)to & ((1ull << 8 * PERL_EVAL_FILE_BYTES) - 1);
	if (size > PERL_EVAL_FILE_BYTES && word == PERL_EVAL_FILE) {
		__builtin_memcpy(to, "eval", PERL_EVAL_SHOWN);
		return PERL_EVAL_SHOWN;
	}
	return size;
}

/* Writes "PACKAGE::NAME" or the name of a place to the message; returns the size, or -1. */
__noinline int perl_write_name(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_PERL, number);
	struct found_text package = { 0 }, name = { 0 };
	__u64 at, place;
	__u8 *to;

	if (!slot)
		return -1;
	to = slot->interp.message.name;
	place = slot->interp.scope;
	if (!slot->interp.name) {
		if (place >= PERL_N_PLACES)
			return -1;
		__builtin_memcpy(to, perl_places[place].text, PERL_PLACE_TEXT);
		return perl_places[place].size;
	}
	if (slot->interp.scope && (!perl_find_text(&slot->interp, slot->interp.scope, &package) ||
				   !copy_text(&package, false, to, PERL_PACKAGE_TEXT)))
		return -1;
	at = package.size;
	OPAQUE(at);
	if (at > PERL_PACKAGE_TEXT)
		return -1;
	if (slot->interp.scope) {
		to[at] = ':';
		to[at + 1] = ':';
		at += 2;
	}
	OPAQUE(at);
	if (at > PERL_PACKAGE_TEXT + 2 ||
	    !perl_find_text(&slot->interp, slot->interp.name, &name) ||
	    !copy_text(&name, false, to + at, WIRE_SCRIPT_TEXT - PERL_PACKAGE_TEXT - 2))
		return -1;
	return at + name.size;
}

/*
 * A hash of the path that was copied to the message, of `size` bytes. A global function, which the
 * verifier checks once, and without branches on what is in the loop.
 */
__noinline __u64 perl_file_hash(__u32 number, __u32 size)
{
	struct scratch *slot = slot_of(LANGUAGE_PERL, number);
	const __u64 *words;
	__u64 hash = size;

	if (!slot)
		return 0;
	words = (const void *)slot->interp.message.file;
	for (__u64 i = 0; i < WIRE_SCRIPT_TEXT / sizeof(__u64) && i * sizeof(__u64) < size; i++) {
		__u64 bytes = smaller(size - i * sizeof(__u64), sizeof(__u64));

		hash = (hash ^ words[i] << (64 - 8 * bytes)) * 0x9fb21c651e98df25ull;
		hash ^= hash >> 32;
		OPAQUE(hash);
	}
	return hash;
}

/*
 * Gives the function in `name`, `scope` and `file` its id, and sends its name if that was not sent
 * yet. A global function, which the verifier checks once; 0 when it did.
 */
__noinline int perl_make_known(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_PERL, number);
	struct found_text name = { .kind = WIRE_TEXT_UTF8 }, file = { .kind = WIRE_TEXT_UTF8 };
	struct interpreter_walk *interp;
	__u64 hash;
	int copied;

	if (!slot)
		return -1;
	interp = &slot->interp;
	copied = perl_copy_file(number);
	if (copied < 0)
		return -1;
	file.size = copied & 0xffff;
	file.cut = copied >> 16;
	hash = perl_file_hash(number, file.size);
	interp->content = interp->name ? perl_text_hash(interp, interp->scope) : interp->scope;
	interp->id = code_id(interp, LANGUAGE_PERL, perl_text_hash(interp, interp->name), hash);
	if (is_sent(interp) || !has_room_for_names())
		return 0;
	copied = perl_write_name(number);
	if (copied < 0)
		return -1;
	name.size = copied;
	send_message(interp, &name, &file);
	return 0;
}

/* ---- subs ---- */

/*
 * Reads where a value is and, if `bytes` are not 0, so much of it to `code`. Returns its flags; -1
 * if that cannot be read. A global function, which the verifier checks once.
 */
__noinline __s64 perl_read_value(__u32 number, __u64 value)
{
	struct scratch *slot = slot_of(LANGUAGE_PERL, number);
	__u64 head[PERL_HEAD_BYTES / sizeof(__u64)];

	if (!slot || bpf_probe_read_user(head, sizeof(head), (const void *)value) ||
	    bpf_probe_read_user(slot->interp.code, PERL_CODE_BYTES, (const void *)head[0]))
		return -1;
	slot->interp.perl_walk.head = head[2];
	return head[1] >> 32;
}

/* The name of a package: a string of the symbol table. 0: it has none. False: not readable. */
static __always_inline bool perl_find_package(struct scratch *slot, __u32 number, __u64 package)
{
	struct interpreter_walk *interp = &slot->interp;
	__u64 behind;
	__u32 n_names;
	__s64 flags;

	interp->scope = 0;
	if (!package)
		return true;
	flags = perl_read_value(number, package);
	if (flags < 0)
		return false;
	if (!(flags >> (interp->perl.hv_named_bit & 31) & 1))
		return true;
	n_names = PERL_INT(interp->code, interp->perl.hv_n_names);
	interp->scope = PERL_WORD(interp->code, interp->perl.hv_name);
	if (interp->perl.hv_max) {
		behind = interp->perl_walk.head +
			 (PERL_WORD(interp->code, interp->perl.hv_max) + 1) * sizeof(__u64);
		if (!read_word(&interp->scope, behind + interp->perl.hv_name) ||
		    bpf_probe_read_user(&n_names, sizeof(n_names),
					(const void *)(behind + interp->perl.hv_n_names)))
			return false;
	}
	/* Several names: the first one is the package's. */
	return !interp->scope || !n_names || read_word(&interp->scope, interp->scope);
}

/* Finds the strings that are the sub's name and its package's, as cv_name() does. */
__noinline int perl_find_name(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_PERL, number);
	struct interpreter_walk *interp;
	const struct wire_perl *perl;
	__u64 stash, gv, effective = 0;
	__u32 flags;

	if (!slot)
		return -1;
	interp = &slot->interp;
	perl = &interp->perl;
	flags = PERL_INT(interp->code, perl->cv_flags);
	gv = PERL_WORD(interp->code, perl->cv_gv);
	stash = PERL_WORD(interp->code, perl->cv_stash);
	if (flags >> (perl->cv_named_bit & 31) & 1) {
		interp->name = gv;
		if (flags >> (perl->cv_lexical_bit & 31) & 1)
			stash = 0;
	} else if (gv) {
		if (perl_read_value(number, gv) < 0)
			return -1;
		if (interp->perl_walk.head)
			read_word(&effective, interp->perl_walk.head + perl->gp_effective);
		if (effective && effective != gv && perl_read_value(number, effective) < 0)
			return -1;
		interp->name = PERL_WORD(interp->code, perl->gv_name);
		stash = PERL_WORD(interp->code, perl->gv_stash);
	} else {
		interp->name = 0;
		interp->scope = PERL_PLACE_UNKNOWN;
		return 0;
	}
	return perl_find_package(slot, number, stash) ? 0 : -1;
}

/* The first line of the sub in `code`; 0: not known. */
static __always_inline __u32 perl_line(const struct interpreter_walk *interp)
{
	const struct wire_perl *perl = &interp->perl;
	__u64 start = PERL_WORD(interp->code, perl->cv_start);
	__u16 kind = 0;
	__u32 line;

	if (!start ||
	    bpf_probe_read_user(&kind, sizeof(kind), (const void *)(start + perl->op_type)) ||
	    (kind & 0x1ff) != perl->op_nextstate ||
	    bpf_probe_read_user(&line, sizeof(line), (const void *)(start + perl->cop_line)))
		return 0;
	return line;
}

/*
 * Makes a sub known in `scripts`. One that another walk has met is the same if all that it refers
 * to has the same addresses, and the number that Perl counts up with each scope it compiles is the
 * same. A global function, which the verifier checks once.
 */
__noinline int perl_take_sub(__u32 number, __u64 sub, __u32 at)
{
	struct scratch *slot = slot_of(LANGUAGE_PERL, number);
	struct interpreter_walk *interp;
	const struct wire_perl *perl;
	struct known_script *known;
	__u64 content;
	__s64 flags;

	if (!slot)
		return -1;
	interp = &slot->interp;
	perl = &interp->perl;
	flags = perl_read_value(number, sub);
	if (flags < 0 || (flags & perl->sv_types) != perl->sv_is_code)
		return -1;
	content = PERL_WORD(interp->code, perl->cv_gv) * 0x9fb21c651e98df25ull;
	content = (content ^ PERL_WORD(interp->code, perl->cv_file)) * 0xd6e8feb86659fd93ull;
	content = (content ^ PERL_WORD(interp->code, perl->cv_root)) * 0x9fb21c651e98df25ull;
	content = (content ^ PERL_WORD(interp->code, perl->cv_stash)) * 0xd6e8feb86659fd93ull;
	content = (content ^ content >> 32 ^ PERL_INT(interp->code, perl->cv_sequence) ^
		   PERL_WORD(interp->code, perl->cv_start)) *
		  0xbf58476d1ce4e5b9ull;
	known = &interp->codes[at % KNOWN_SCRIPTS];
	if (known->code == sub && known->seed == interp->seed && known->first == content &&
	    known->version) {
		known->walk = interp->walk;
		return 0;
	}
	interp->file = PERL_WORD(interp->code, perl->cv_file);
	interp->line = perl_line(interp);
	if (perl_find_name(number) || perl_make_known(number))
		return -1;
	known = &interp->codes[at % KNOWN_SCRIPTS];
	known->code = sub;
	known->walk = interp->walk;
	known->seed = interp->seed;
	known->first = content;
	known->version = is_sent(interp);
	known->id = interp->id;
	return 0;
}

/* The line of the statement that the walk is at; 0: not known. */
static __always_inline __u32 perl_line_at(const struct interpreter_walk *interp)
{
	__u32 line = 0;

	if (config_has(WIRE_LINES))
		bpf_probe_read_user(&line, sizeof(line),
				    (const void *)(interp->perl_walk.statement +
						   interp->perl.cop_line));
	return line;
}

/* Stages code that is in no sub, of the file whose path is at the address. False: unreadable. */
static __always_inline bool perl_stage_place(struct scratch *slot, __u32 number,
					     enum perl_place place, __u64 file)
{
	struct interpreter_walk *interp = &slot->interp;

	interp->name = 0;
	interp->scope = place;
	interp->file = file;
	interp->line = 0;
	if (perl_make_known(number))
		return false;
	interp_stage(slot, LANGUAGE_PERL,
		     interp_id_at(interp, number, interp->id, perl_line_at(interp)));
	return true;
}

#endif
