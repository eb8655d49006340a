/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Functions of interpreted programs are sent by name when they are first met: later, the process
 * may be gone. An id stands for the name in stacks.
 */
#ifndef STACKTALLY_BPF_PROGRAM_NAMES_BPF_H
#define STACKTALLY_BPF_PROGRAM_NAMES_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/count.bpf.h"
#include "bpf/hints.h"
#include "bpf/interpreter_wire.h"
#include "bpf/scratch.bpf.h"

/* The interpreters by their numbers; set by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_MAX_INTERPRETERS);
	__type(key, __u32);
	__type(value, struct wire_interpreter);
} interpreters SEC(".maps");

/* Ids of functions whose names are in the ring buffer or beyond. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384); /* more functions only means that names are sent again */
	__type(key, __u64);
	__type(value, __u8);
} sent_codes SEC(".maps");

/*
 * The id of the function found last, whose code object is at an address. It depends on what the
 * object says, so another function at the same address has another id.
 */
static __always_inline __u64 code_id(const struct interpreter_walk *program, __u64 code)
{
	__u64 id = (program->seed ^ code) * 0x9fb21c651e98df25ull;

	id = (id ^ id >> 32 ^ program->name) * 0xd6e8feb86659fd93ull;
	id = (id ^ id >> 29 ^ program->file) * 0x9fb21c651e98df25ull;
	id = (id ^ id >> 32 ^ program->line) * 0xbf58476d1ce4e5b9ull;
	id = (id ^ id >> 31 ^ program->content) * 0x94d049bb133111ebull;
	id = (id ^ id >> 29) & WIRE_FRAME_ADDRESS;
	return id | (id < WIRE_CODE_IDS) << 16;
}

/* Whether the name of the function found last was sent. */
static __always_inline bool is_sent(struct interpreter_walk *program)
{
	__u64 id = program->id;
	__u64 *known = &program->sent[id % SENT_CODES];

	if (LIKELY(*known == id))
		return true;
	if (!bpf_map_lookup_elem(&sent_codes, &id))
		return false;
	*known = id;
	return true;
}

/* A string of CPython that was found. */
struct found_text {
	__u32 size;
	__u32 kind;
	bool cut;
};

/*
 * Copies a string's characters, its end if `end` and it is too long. False: it cannot be read, or
 * is no string.
 */
static __always_inline bool copy_text(struct interpreter_walk *program,
				      const struct wire_python *python, __u64 string, bool end,
				      __u8 *to, struct found_text *ret_text)
{
	__u64 type, length = 0, from, size;
	__u32 state = 0, kind;

	if (bpf_probe_read_user(&type, sizeof(type), (const void *)(string + python->type)) ||
	    type != python->string_type + program->bias ||
	    bpf_probe_read_user(&length, sizeof(length),
				(const void *)(string + python->string_length)) ||
	    bpf_probe_read_user(&state, sizeof(state),
				(const void *)(string + python->string_state)))
		return false;
	kind = state >> (python->string_kind_bit & 31) & 7;
	if (!(state >> (python->string_compact_bit & 31) & 1) ||
	    (kind != 1 && kind != 2 && kind != 4) || length > 1 << 20)
		return false;
	from = string + (state >> (python->string_ascii_bit & 31) & 1
				 ? python->string_ascii_size
				 : python->string_compact_size);
	size = length * kind;
	ret_text->cut = size > WIRE_CODE_TEXT;
	if (ret_text->cut && end)
		from += size - WIRE_CODE_TEXT;
	size = smaller(size, WIRE_CODE_TEXT);
	ret_text->size = size;
	ret_text->kind = kind;
	/* Right before the call: 5.10 forgets the bounds of what it spills. */
	OPAQUE(size);
	if (size > WIRE_CODE_TEXT)
		return false;
	return bpf_probe_read_user(to, size, (const void *)from) == 0;
}

/*
 * A hash of a string's characters, as far as they would be sent: the interpreter's own, if it has
 * one. The same addresses may hold other strings later. A global function: verified once.
 */
__noinline __u64 text_hash(__u32 number, __u64 string, __u32 end)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	const struct wire_python *python;
	struct found_text text = { 0 };
	__u64 hash = 0, size, *words;

	if (!slot)
		return 0;
	python = &slot->program.python;
	if (bpf_probe_read_user(&hash, sizeof(hash), (const void *)(string + python->string_hash)))
		return 0;
	if (hash != ~0ull)
		return hash;
	words = (void *)slot->program.message.name;
	if (!copy_text(&slot->program, python, string, end, (void *)words, &text))
		return 0;
	size = text.size;
	OPAQUE(size);
	if (size > WIRE_CODE_TEXT)
		return 0;
	/* The last word may be in part of another string. */
	*(__u64 *)((__u8 *)words + size) = 0;
	hash = size ^ (__u64)text.kind << 32;
	for (__u32 i = 0; i < WIRE_CODE_TEXT / sizeof(__u64) && i * sizeof(__u64) < size; i++) {
		hash = (hash ^ words[i]) * 0x9fb21c651e98df25ull;
		hash ^= hash >> 32;
		OPAQUE(hash);
	}
	return hash;
}

/*
 * Sends the name of the function found last. If the ring has no room, it is tried again when the
 * function is met again. A global function, which the verifier checks once.
 */
__noinline int send_code_name(__u32 number)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	struct interpreter_walk *program;
	struct wire_code_name *message;
	struct found_text name = { 0 }, file = { 0 };
	__u8 sent = 1;

	/* Half of the ring is reserved for stacks: a process can make any number of functions. */
	if (!slot || bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > 2ull * config.wake_at)
		return 0;
	program = &slot->program;
	message = &program->message;
	if (!copy_text(program, &program->python, program->name, false, message->name, &name) ||
	    !copy_text(program, &program->python, program->file, true, message->file, &file))
		return 0;
	message->id = program->id;
	message->line = program->line;
	message->name_size = name.size;
	message->file_size = file.size;
	message->name_kind = name.kind;
	message->file_kind = file.kind;
	message->flags = (name.cut ? WIRE_CODE_NAME_CUT : 0) | (file.cut ? WIRE_CODE_FILE_CUT : 0);
	message->language = program->language;
	message->kind = WIRE_KIND_CODE;
	if (bpf_ringbuf_output(&ring, message, sizeof(*message), BPF_RB_NO_WAKEUP) == 0)
		bpf_map_update_elem(&sent_codes, &program->id, &sent, BPF_ANY);
	return 0;
}

#endif
