/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Strings of Ruby. Short ones have their characters in the object, others elsewhere.
 */
#ifndef STACKTALLY_LANGUAGES_RUBY_TEXT_BPF_H
#define STACKTALLY_LANGUAGES_RUBY_TEXT_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/interpreter_wire.h"
#include "bpf/scratch.bpf.h"
#include "languages/interp_names.bpf.h"
#include "languages/interp_run.bpf.h"

#define RUBY_STRING_BYTES 64 /* of a string, with the first characters of most */

/* Finds a string's characters. False: it cannot be read, or is no string. */
static __always_inline bool ruby_find_text(struct interpreter_walk *interp, __u64 string,
					   struct found_text *ret_text)
{
	const struct wire_ruby *ruby = &interp->ruby;
	__u8 *head = interp->message.file; /* free until all texts are found */
	__u64 flags;

	if (bpf_probe_read_user(head, RUBY_STRING_BYTES, (const void *)string))
		return false;
	flags = *(const __u64 *)head;
	if ((flags & ruby->type_mask) != ruby->type_string)
		return false;
	ret_text->size = AT(head, ruby->string_length, RUBY_STRING_BYTES, __u64);
	if (flags & ruby->string_apart) {
		ret_text->from = AT(head, ruby->string_pointer, RUBY_STRING_BYTES, __u64);
	} else {
		ret_text->from = string + ruby->string_embedded;
		if (ruby->string_embedded_length)
			ret_text->size = (flags & ruby->string_embedded_length) >>
					 (ruby->string_embedded_shift & 31);
	}
	ret_text->kind = WIRE_TEXT_UTF8;
	return ret_text->size <= 1 << 20;
}

/* A hash of up to 24 characters that came with the head of their string. */
static __always_inline __u64 ruby_hash_of_head(const struct interpreter_walk *interp, __u64 size)
{
	const __u8 *head = interp->message.file;
	__u64 hash = size;

	for (__u32 i = 0; i < 3; i++) {
		__u64 word =
			AT(head, interp->ruby.string_embedded + 8 * i, RUBY_STRING_BYTES, __u64);

		if (size < 8 * (i + 1ull))
			word = size > 8 * i ? word & ((1ull << 8 * (size & 7)) - 1) : 0;
		hash = (hash ^ word) * 0x9fb21c651e98df25ull;
		hash ^= hash >> 32;
	}
	return hash;
}

#endif
