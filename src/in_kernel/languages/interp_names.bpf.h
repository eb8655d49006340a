/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Functions of interpreted programs are sent by name when they are first met: later, the process
 * may be gone. An id stands for the name in stacks.
 */
#ifndef STACKTALLY_LANGUAGES_INTERP_NAMES_BPF_H
#define STACKTALLY_LANGUAGES_INTERP_NAMES_BPF_H

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
} sent_scripts SEC(".maps");

/*
 * The id of the function found last, by three words that tell it from others and what program has
 * of it: another function at the same address has another id.
 */
static __always_inline __u64 code_id(const struct interpreter_walk *interp, __u64 code, __u64 name,
				     __u64 file)
{
	__u64 id = (interp->seed ^ code) * 0x9fb21c651e98df25ull;

	id = (id ^ id >> 32 ^ name) * 0xd6e8feb86659fd93ull;
	id = (id ^ id >> 29 ^ file) * 0x9fb21c651e98df25ull;
	id = (id ^ id >> 32 ^ interp->line) * 0xbf58476d1ce4e5b9ull;
	id = (id ^ id >> 31 ^ interp->content) * 0x94d049bb133111ebull;
	id = (id ^ id >> 29) & WIRE_FRAME_ADDRESS;
	return id | (id < WIRE_SCRIPT_IDS) << 16;
}

/* What becomes of the id of a function at an instruction, or at a line. */
static __always_inline __u64 place_id(__u64 function, __u32 offset)
{
	__u64 id = (function ^ (__u64)(offset + 1) << 32) * 0x9fb21c651e98df25ull;

	id = (id ^ id >> 31) & WIRE_FRAME_ADDRESS;
	return id | (id < WIRE_SCRIPT_IDS) << 16;
}

/* Whether the name of a function was sent. */
static __always_inline bool was_sent(struct interpreter_walk *interp, __u64 id)
{
	__u64 *known = &interp->sent[id % SENT_SCRIPTS];

	if (LIKELY(*known == id))
		return true;
	if (!bpf_map_lookup_elem(&sent_scripts, &id))
		return false;
	*known = id;
	return true;
}

/* Whether that of the function found last was. */
static __always_inline bool is_sent(struct interpreter_walk *interp)
{
	return was_sent(interp, interp->id);
}

/* Notes that a name was sent. If only in this slot, others send it again. */
static __always_inline void note_sent(struct interpreter_walk *interp, __u64 id)
{
	__u8 sent = 1;

	interp->sent[id % SENT_SCRIPTS] = id;
	if (interp->may_lock)
		bpf_map_update_elem(&sent_scripts, &id, &sent, BPF_ANY);
}

/* A string that was found in the process. */
struct found_text {
	__u64 from; /* its address */
	__u64 size; /* bytes; of those copied once copy_text() has run */
	__u32 kind; /* as in struct wire_script_name */
	bool cut;
	bool class_first; /* see enum wire_script_flags */
};

/* Copies a string's characters, its end if `end` and it is longer than `room`: a constant. */
static __always_inline bool copy_text(struct found_text *text, bool end, __u8 *to, __u64 capacity)
{
	__u64 size = text->size;

	text->cut = size > capacity;
	if (text->cut && end)
		text->from += size - capacity;
	size = smaller(size, capacity);
	text->size = size;
	/* Right before the call: 5.10 forgets the bounds of what it spills. */
	OPAQUE(size);
	if (size > capacity)
		return false;
	return bpf_probe_read_user(to, size, (const void *)text->from) == 0;
}

/* A hash of the characters that were copied to the message's name. */
static __always_inline __u64 hash_of_copy(struct scratch *slot, const struct found_text *text)
{
	__u64 *words = (void *)slot->interp.message.name, size = text->size, hash;

	OPAQUE(size);
	if (size > WIRE_SCRIPT_TEXT)
		return 0;
	/* The last word may be in part of another string. */
	*(__u64 *)((__u8 *)words + size) = 0;
	hash = size ^ (__u64)text->kind << 32;
	for (__u32 i = 0; i < WIRE_SCRIPT_TEXT / sizeof(__u64) && i * sizeof(__u64) < size; i++) {
		hash = (hash ^ words[i]) * 0x9fb21c651e98df25ull;
		hash ^= hash >> 32;
		OPAQUE(hash);
	}
	return hash;
}

/* Half of the ring is reserved for stacks: a process can make any number of functions. */
static __always_inline bool has_room_for_names(void)
{
	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) <= 2ull * config.wake_at;
}

/*
 * Sends the name and the file, which the message has, of the function found last. If the ring has
 * no room, it is tried again when the function is met again.
 */
static __always_inline void send_message(struct interpreter_walk *interp,
					 const struct found_text *name,
					 const struct found_text *file)
{
	struct wire_script_name *message = &interp->message;

	message->id = interp->id;
	message->line = interp->line;
	message->name_size = name->size;
	message->file_size = file->size;
	message->name_kind = name->kind;
	message->file_kind = file->kind;
	message->flags = (name->cut ? WIRE_SCRIPT_NAME_CUT : 0) |
			 (file->cut ? WIRE_SCRIPT_FILE_CUT : 0) |
			 (name->class_first ? WIRE_SCRIPT_CLASS_FIRST : 0);
	message->language = interp->language;
	message->kind = WIRE_KIND_SCRIPT;
	if (bpf_ringbuf_output(&ring, message, sizeof(*message), BPF_RB_NO_WAKEUP) == 0)
		note_sent(interp, interp->id);
}

/* Sends a function's line. A global function, which the verifier checks once. */
__noinline int interp_send_line(__u32 number, __u64 function, __u32 line)
{
	struct scratch *slot = config_has(WIRE_LINES) ? seldom_slot(number) : NULL;
	struct wire_script_place place = {
		.id = place_id(function, line),
		.function = function,
		.offset = line,
		.form = WIRE_LINES_KNOWN,
		.kind = WIRE_KIND_PLACE,
	};

	if (slot && has_room_for_names() && was_sent(&slot->interp, function) &&
	    bpf_ringbuf_output(&ring, &place, sizeof(place), BPF_RB_NO_WAKEUP) == 0)
		note_sent(&slot->interp, place.id);
	return 0;
}

/*
 * The id in the stack of a function at a line. Without lines, or if it is 0 or could not be sent,
 * that of the function.
 */
static __always_inline __u64 interp_id_at(struct interpreter_walk *interp, __u32 number,
					  __u64 function, __u32 line)
{
	__u64 id = place_id(function, line);

	if (!config_has(WIRE_LINES) || !line)
		return function;
	if (!was_sent(interp, id))
		interp_send_line(number, function, line);
	return was_sent(interp, id) ? id : function;
}

#endif
