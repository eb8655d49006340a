/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Objects and strings of JavaScript's V8. A string may be a concatenation of others, a part of one
 * or stand for one; its characters have one byte (Latin-1) or two.
 */
#ifndef STACKTALLY_LANGUAGES_JAVASCRIPT_STRINGS_BPF_H
#define STACKTALLY_LANGUAGES_JAVASCRIPT_STRINGS_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/hints.h"
#include "bpf/interpreter_wire.h"
#include "bpf/scratch.bpf.h"
#include "languages/interp_names.bpf.h"
#include "languages/interp_run.bpf.h"

#define JAVASCRIPT_HEAD_BYTES 32 /* of strings and of scopes */
#define JAVASCRIPT_PIECES     16 /* of a string that is a concatenation: so many are followed */
#define JAVASCRIPT_WAITING    8
#define JAVASCRIPT_TEXT_MAX   (1ull << 30)

#define JAVASCRIPT_HASHED 2 /* the low bits of a string's hash, if it was computed */

/* A tagged word is an object's address plus 1, or a number in the upper half. */
static __always_inline bool is_object(__u64 word)
{
	return (word & 3) == 1;
}

/* Of a word that an object's address plus 1 is in; 0: it cannot be read. */
static __always_inline __u64 object_word(__u64 object, __u64 offset)
{
	__u64 word;

	return is_object(object) && read_word(&word, object - 1 + offset) ? word : 0;
}

#define JAVASCRIPT_NO_TYPE (1u << 16) /* there is no object, or it cannot be read */

/* The type in an object's map. Objects of a type share one. */
static __always_inline __u32 map_type(struct interpreter_walk *interp, __u64 map)
{
	struct javascript_walk *walk = &interp->javascript_walk;
	__u64 at = map / 16;
	__u16 type;

	if (!is_object(map))
		return JAVASCRIPT_NO_TYPE;
	if (LIKELY(walk->maps[at % JAVASCRIPT_MAPS] == map))
		return walk->types[at % JAVASCRIPT_MAPS];
	if (bpf_probe_read_user(&type, sizeof(type),
				(const void *)(map - 1 + interp->javascript.map_type)))
		return JAVASCRIPT_NO_TYPE;
	at = map / 16;
	OPAQUE(at); /* 5.10 forgets the bounds of what it spills */
	walk->maps[at % JAVASCRIPT_MAPS] = map;
	walk->types[at % JAVASCRIPT_MAPS] = type;
	return type;
}

static __always_inline __u32 object_type(struct interpreter_walk *interp, __u64 object)
{
	return map_type(interp, object_word(object, 0));
}

/* A string whose pieces are being written, in place of the window. */
struct javascript_text {
	__u64 waiting[JAVASCRIPT_WAITING]; /* pieces, the next one last */
	__u32 n;
	__u32 written; /* bytes */
	__u32 kind;    /* bytes of a character; 0: not known yet */
	__u32 cut;
};

_Static_assert(sizeof(struct javascript_text) <= FRAME_BELOW, "it has room in a window");

static __always_inline void push_piece(struct javascript_text *text, __u64 string)
{
	__u64 at = text->n;

	OPAQUE(at);
	if (at >= JAVASCRIPT_WAITING) {
		text->cut = 1;
		return;
	}
	text->waiting[at] = string;
	text->n = at + 1;
}

/* Appends characters to the message's name, or their end if that is wanted and they are too many.
 */
static __always_inline bool append_piece(struct interpreter_walk *interp, __u64 from, __u64 size,
					 bool end)
{
	struct javascript_text *text = (void *)interp->window.bytes;
	struct found_text piece = { .from = from, .size = size };
	__u64 at = text->written;

	if (at && size > WIRE_SCRIPT_TEXT - at) {
		piece.size = (WIRE_SCRIPT_TEXT - at) & ~1ull;
		text->cut = 1;
	}
	OPAQUE(at);
	if (at > WIRE_SCRIPT_TEXT ||
	    !copy_text(&piece, end, interp->message.name + at, WIRE_SCRIPT_TEXT))
		return false;
	text->cut |= piece.cut;
	text->written = at + piece.size;
	return true;
}

#define JAVASCRIPT_WIDENED 128 /* characters of one byte in a string of two */

_Static_assert(sizeof(struct javascript_text) + 2 * JAVASCRIPT_WIDENED <= FRAME_BELOW,
	       "they have room in a window behind it");

/* As append_piece(), of characters of one byte in a string that has larger ones as well. */
static __always_inline bool append_wide(struct interpreter_walk *interp, __u64 from, __u64 size,
					bool end)
{
	struct javascript_text *text = (void *)interp->window.bytes;
	__u8 *bytes = (__u8 *)(text + 1), *to = interp->message.name;
	__u64 at = text->written;

	text->cut = size > JAVASCRIPT_WIDENED;
	if (end && text->cut)
		from += size - JAVASCRIPT_WIDENED;
	OPAQUE(from);
	size = smaller(size, JAVASCRIPT_WIDENED);
	OPAQUE(size);
	/* The mask is for the verifier, right where it wants a bound. */
	if (bpf_probe_read_user(bytes, size & (2 * JAVASCRIPT_WIDENED - 1), (const void *)from))
		return false;
	for (__u32 i = 0; i < JAVASCRIPT_WIDENED && i < size; i++) {
		OPAQUE(at);
		if (at > WIRE_SCRIPT_TEXT - 2) {
			text->cut = 1;
			break;
		}
		to[at] = bytes[i];
		to[at + 1] = 0;
		at += 2;
	}
	text->written = at;
	return true;
}

/*
 * Writes the next piece of a string; 1: there may be more, 0: it is over, -1: it cannot be read.
 * A global function, which the verifier checks once.
 */
__noinline int javascript_piece(__u32 number, __u32 end)
{
	struct scratch *slot = slot_of(LANGUAGE_JAVASCRIPT, number);
	const struct wire_javascript *is;
	struct interpreter_walk *interp;
	struct javascript_text *text;
	__u64 string, size, from, at;
	__u32 type, form, kind;
	__u8 *head;

	if (!slot)
		return -1;
	interp = &slot->interp;
	is = &interp->javascript;
	text = (void *)interp->window.bytes;
	at = text->n - 1;
	OPAQUE(at);
	if (at >= JAVASCRIPT_WAITING || text->cut)
		return 0;
	string = text->waiting[at];
	text->n = at;
	head = interp->code;
	if (!is_object(string) ||
	    bpf_probe_read_user(head, JAVASCRIPT_HEAD_BYTES, (const void *)(string - 1)))
		return -1;
	type = map_type(interp, *(__u64 *)head);
	if (type >= is->type_not_string)
		return -1;
	form = type & is->string_form;
	kind = type & is->string_one_byte ? 1 : 2;
	if (!text->kind) /* the kind of the whole string */
		text->kind = kind;
	size = AT(head, is->string_length, JAVASCRIPT_HEAD_BYTES, __u32) * (__u64)kind;
	if (size > JAVASCRIPT_TEXT_MAX)
		return -1;
	if (form == is->form_thin) {
		push_piece(text, AT(head, is->thin_actual, JAVASCRIPT_HEAD_BYTES, __u64));
		return 1;
	}
	if (form == is->form_cons) {
		push_piece(text, AT(head, is->cons_second, JAVASCRIPT_HEAD_BYTES, __u64));
		push_piece(text, AT(head, is->cons_first, JAVASCRIPT_HEAD_BYTES, __u64));
		return 1;
	}
	from = string - 1 + is->string_text;
	if (form == is->form_sliced) {
		string = AT(head, is->sliced_parent, JAVASCRIPT_HEAD_BYTES, __u64);
		from = string - 1 + is->string_text +
		       (AT(head, is->sliced_offset, JAVASCRIPT_HEAD_BYTES, __u64) >> 32) * kind;
		type = object_type(interp, string);
		form = type >= is->type_not_string ? ~0u : type & is->string_form;
	}
	if (!size)
		return 1;
	if (form != is->form_sequential) { /* characters outside of the heap */
		text->cut = 1;
		return 0;
	}
	if (text->kind != kind)
		return text->kind == 2 && append_wide(interp, from, size, end) ? 1 : -1;
	return append_piece(interp, from, size, end && !text->written) ? 1 : -1;
}

/*
 * Writes a string to the message's name; -1: it cannot be read. Returns the bytes, and above 16
 * bits the kind and from bit 24 on whether it was cut. A global function, which the verifier checks
 * once.
 */
__noinline int javascript_write(__u32 number, __u64 string, __u32 end)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVASCRIPT, number);
	struct javascript_text *text;
	int more = 1;

	if (!slot)
		return -1;
	text = (void *)slot->interp.window.bytes;
	text->waiting[0] = string;
	text->n = 1;
	text->written = 0;
	text->kind = 0;
	text->cut = 0;
	for (__u32 i = 0; i < JAVASCRIPT_PIECES && more == 1; i++) {
		more = javascript_piece(number, end);
		OPAQUE(more);
	}
	if (more < 0)
		return -1;
	if (more == 1 && text->n)
		text->cut = 1;
	return (text->written & 0xffff) | text->kind << 16 | text->cut << 24;
}

static __always_inline void text_of(int written, struct found_text *ret_text)
{
	ret_text->size = written & 0xffff;
	ret_text->kind = written >> 16 & 0xff ? written >> 16 & 0xff : 1;
	ret_text->cut = written >> 24;
}

/*
 * A hash of a string's characters: V8's own, if it was computed, else of those that would be sent.
 * 0: it cannot be read. A global function, which the verifier checks once.
 */
__noinline __u64 javascript_hash(__u32 number, __u64 string, __u32 end)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_JAVASCRIPT, number);
	struct found_text text = { 0 };
	__u64 hash;
	int written;

	if (!slot || !string)
		return 1;
	/* The hash and the length are neighbours. */
	hash = string == slot->interp.javascript_walk.string
		       ? slot->interp.javascript_walk.hash
		       : object_word(string, slot->interp.javascript.string_hash);
	if ((hash & 3) == JAVASCRIPT_HASHED)
		return hash;
	written = javascript_write(number, string, end);
	if (written < 0)
		return 0;
	text_of(written, &text);
	return hash_of_copy(slot, &text) | 1;
}

#endif
