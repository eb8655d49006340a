/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The frames of CPython, from 3.9 on. Whatever is read belongs to the process and may be anything:
 * loops are bounded, and each pointer is read with a helper that fails where it leads nowhere. A
 * state belongs to this thread only if it says so, a function is one only if its type is right, and
 * a run is in the stack only if its anchor is in a native frame (3.9 has no anchors).
 */
#ifndef STACKTALLY_LANGUAGES_PYTHON_BPF_H
#define STACKTALLY_LANGUAGES_PYTHON_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "bpf/hints.h"
#include "bpf/interpreter_wire.h"
#include "bpf/kernel.bpf.h"
#include "bpf/scratch.bpf.h"
#include "languages/program_names.bpf.h"
#include "languages/program_run.bpf.h"

#define PYTHON_STATE_BYTES    192 /* of a thread's state, less than PYTHON_CODE_ROOM */
#define PYTHON_FUNCTION_BYTES 136 /* of a function, in 3.11 */
#define PYTHON_RECORD_BYTES   24  /* of a record on the C stack */
#define PYTHON_TRIES	      8	  /* one time in so many, a function's number is looked for */

/*
 * Copies a state to the walk's `code`. Whether it is that of the thread, which it names by
 * pthread_self(): glibc's thread pointer.
 */
static __always_inline bool python_take_state(struct interpreter_walk *program, __u64 state,
					      __u64 thread)
{
	return state &&
	       bpf_probe_read_user(program->code, PYTHON_STATE_BYTES, (const void *)state) == 0 &&
	       CODE_WORD(program->code, program->python.thread_id) == thread;
}

/*
 * Notes how many code objects the thread's interpreter has numbered: while it numbers none, what is
 * at the address of a known one is still that. Only the main interpreter is in the file's variable.
 */
static __always_inline void python_take_made(struct interpreter_walk *program)
{
	__u64 interpreter = CODE_WORD(program->code, program->python.interpreter);
	__u64 from = program->python.tss_key + program->bias;
	__u32 next = 0;

	if (interpreter - from < program->python.next_version &&
	    bpf_probe_read_user(&next, sizeof(next),
				(const void *)(from + program->python.next_version)) == 0 &&
	    next)
		program->made = interpreter * 0x9fb21c651e98df25ull + next;
	program->next_version = next;
}

#define PYTHON_PAGE	   4096ull
#define PYTHON_STRING_ROOM 128		/* bytes of a string that are read first, ... */
#define PYTHON_SHORT_TEXT  64		/* ... and characters that are hashed there */
#define PYTHON_STACKS	   (8ull << 20) /* frames so far above the stack pointer are on the C stack */

/*
 * Copies the frame that the walk is at with the memory below, where its callers mostly are: a frame
 * takes some hundred bytes. Not from the page below, which may not be mapped. A frame on the C
 * stack, where each run begins, is copied beside that. Returns where the frame is in the copy; -1:
 * it cannot be read.
 */
__noinline int python_move_window(__u32 number)
{
	struct scratch *slot = slot_of(WIRE_LANGUAGE_PYTHON, number);
	struct python_window *window;
	__u64 frame, size;

	if (!slot)
		return -1;
	window = &slot->program.window;
	frame = slot->program.frame;
	if (frame - slot->walk.registers[UNWIND_SP] < PYTHON_STACKS)
		return bpf_probe_read_user(window->bytes + PYTHON_ON_STACK, PYTHON_FRAME_SIZE,
					   (const void *)frame)
			       ? -1
			       : PYTHON_ON_STACK;
	window->last = smaller(frame % PYTHON_PAGE, PYTHON_BELOW);
	window->from = frame - window->last;
	size = window->last + PYTHON_FRAME_SIZE;
	OPAQUE(size);
	if (size > PYTHON_BELOW + PYTHON_FRAME_SIZE ||
	    bpf_probe_read_user(window->bytes, size, (const void *)window->from)) {
		window->from = 0;
		window->last = 0;
		return -1;
	}
	return size - PYTHON_FRAME_SIZE;
}

/* Finds a string's characters. False: it cannot be read, or is no string. */
static __always_inline bool python_find_text(const struct interpreter_walk *program, __u64 string,
					     struct found_text *ret_text)
{
	const struct wire_python *python = &program->python;
	__u64 type, length = 0;
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
static __always_inline __u64 python_short_hash(const struct interpreter_walk *program, __u64 size)
{
	const struct wire_python *python = &program->python;
	__u64 length = CODE_WORD(program->code, python->string_length), hash;
	__u32 state = CODE_INT(program->code, python->string_state), at;
	const __u64 *words;

	if (!(state >> (python->string_compact_bit & 31) &
	      state >> (python->string_ascii_bit & 31) & 1) ||
	    length > PYTHON_SHORT_TEXT || python->string_ascii_size + length > size)
		return 0;
	at = python->string_ascii_size % 64;
	words = (const void *)(program->code + at);
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
	struct scratch *slot = slot_of(WIRE_LANGUAGE_PYTHON, number);
	__u64 size = smaller(PYTHON_PAGE - string % PYTHON_PAGE, PYTHON_STRING_ROOM), hash;
	struct found_text text = { 0 };

	if (!slot)
		return 0;
	OPAQUE(size);
	if (size > PYTHON_STRING_ROOM ||
	    bpf_probe_read_user(slot->program.code, size, (const void *)string))
		return 0;
	hash = CODE_WORD(slot->program.code, slot->program.python.string_hash);
	if (slot->program.python.string_hash + sizeof(hash) > size &&
	    !read_word(&hash, string + slot->program.python.string_hash))
		return 0;
	if (hash != ~0ull)
		return hash;
	hash = python_short_hash(&slot->program, size);
	if (hash)
		return hash;
	if (!python_find_text(&slot->program, string, &text) ||
	    !copy_text(&text, end, slot->program.message.name, WIRE_CODE_TEXT))
		return 0;
	return hash_of_copy(slot, &text);
}

/* Sends the name of the function found last. A global function, which the verifier checks once. */
__noinline int python_send_name(__u32 number)
{
	struct scratch *slot = slot_of(WIRE_LANGUAGE_PYTHON, number);
	struct found_text name = { 0 }, file = { 0 };
	struct interpreter_walk *program;

	if (!slot || !has_room_for_names())
		return 0;
	program = &slot->program;
	if (python_find_text(program, program->name, &name) &&
	    python_find_text(program, program->file, &file) &&
	    copy_text(&name, false, program->message.name, WIRE_CODE_TEXT) &&
	    copy_text(&file, true, program->message.file, WIRE_CODE_TEXT))
		send_message(program, &name, &file);
	return 0;
}

/*
 * Sets what tells the code object from others that were at its address: its number, or for want of
 * one its strings.
 */
static __always_inline void python_take_content(struct interpreter_walk *program, __u32 number,
						__u32 version)
{
	program->content = version;
	if (LIKELY(program->content))
		return;
	if (program->name != program->last_name) {
		program->last_name_hash = python_text_hash(number, program->name, false);
		program->last_name = program->name;
	}
	if (program->file != program->last_file) {
		program->last_file_hash = python_text_hash(number, program->file, true);
		program->last_file = program->file;
	}
	program->content =
		program->last_name_hash * 0xd6e8feb86659fd93ull ^ program->last_file_hash;
}

/*
 * Reads a code object into `known`, and sends its name if that was not sent yet. Returns 0 when it
 * did. A global function, which the verifier checks once; `at` is the place in `codes`.
 */
__noinline int python_take_code(__u32 number, __u64 code, __u32 at)
{
	struct scratch *slot = slot_of(WIRE_LANGUAGE_PYTHON, number);
	const struct wire_python *python;
	struct interpreter_walk *program;
	struct known_code *known;
	__u64 size, first;
	__u32 version = 0;

	if (!slot)
		return -1;
	program = &slot->program;
	python = &program->python;
	size = python->code_bytes;
	OPAQUE(size);
	if (size > PYTHON_CODE_ROOM ||
	    bpf_probe_read_user(program->code, size, (const void *)code) ||
	    CODE_WORD(program->code, python->type) != python->code_type + program->bias)
		return -1;
	program->name = CODE_WORD(program->code, python->code_name);
	program->file = CODE_WORD(program->code, python->code_file);
	program->line = CODE_INT(program->code, python->code_line);
	first = code + size + 2ull * CODE_INT(program->code, python->code_first);
	if (python->code_version)
		version = CODE_INT(program->code, python->code_version);
	if (version >= program->next_version)
		program->made = 0; /* it counts something else */
	python_take_content(program, number, version);
	program->id = code_id(program, code, program->name, program->file);
	if (!is_sent(program))
		python_send_name(number);
	known = &program->codes[at % KNOWN_CODES];
	if (known->code != code || known->seed != program->seed)
		known->function = 0;
	known->seed = program->seed;
	known->made = program->made;
	known->version = version && is_sent(program) ? version : 0;
	known->code = code;
	known->walk = program->walk;
	known->id = program->id;
	known->first = first;
	return 0;
}

/* What becomes of the id of a function at an instruction. */
static __always_inline __u64 place_id(__u64 function, __u32 offset)
{
	__u64 id = (function ^ (__u64)(offset + 1) << 32) * 0x9fb21c651e98df25ull;

	id = (id ^ id >> 31) & WIRE_FRAME_ADDRESS;
	return id | (id < WIRE_CODE_IDS) << 16;
}

/* What tells in `sent_codes` that a function's table was sent: no id, which are shorter. */
#define TABLE_OF(function) ((function) | 1ull << 63)

/*
 * Copies the table of lines of a code object behind struct wire_code_place, and sets its size and
 * form. Without a size there is none, as it is too large or cannot be read.
 */
static __always_inline void python_take_table(struct scratch *slot, struct wire_code_place *place,
					      __u64 code)
{
	const struct wire_python *python = &slot->program.python;
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
	struct scratch *slot = slot_of(WIRE_LANGUAGE_PYTHON, number);
	__u64 table = TABLE_OF(function), id = place_id(function, offset), size;
	struct wire_code_place *place;
	__u8 sent = 1;
	__u32 form;

	if (!slot || !has_room_for_names() || !bpf_map_lookup_elem(&sent_codes, &function))
		return 0;
	place = (void *)&slot->frames[LINES_AT];
	form = slot->program.python.form;
	place->id = id;
	place->function = function;
	place->offset = offset;
	place->size = 0;
	place->form = form == WIRE_PYTHON_CHAIN	    ? WIRE_LINES_PAIRS
		      : form == WIRE_PYTHON_OBJECTS ? WIRE_LINES_RANGES
						    : WIRE_LINES_LOCATIONS;
	place->kind = WIRE_KIND_PLACE;
	if (!bpf_map_lookup_elem(&sent_codes, &table))
		python_take_table(slot, place, code);
	size = sizeof(*place) + (place->size + 7) / 8 * 8;
	OPAQUE(size);
	if (size > sizeof(*place) + WIRE_LINES_MAX ||
	    bpf_ringbuf_output(&ring, place, size, BPF_RB_NO_WAKEUP))
		return 0;
	if (place->size)
		bpf_map_update_elem(&sent_codes, &table, &sent, BPF_ANY);
	bpf_map_update_elem(&sent_codes, &id, &sent, BPF_ANY);
	return 0;
}

/*
 * The id of a known function in the stack: with lines, of the instruction in it, at `offset` from
 * the code object's first one.
 */
static __always_inline __u64 python_id_at(struct interpreter_walk *program, __u32 number,
					  const struct known_code *known, __u64 code, __u32 offset)
{
	__u64 function = known->id;

	if (!config_has(WIRE_LINES))
		return function;
	program->id = place_id(function, offset);
	if (!is_sent(program))
		python_send_place(number, function, offset, code);
	return program->id;
}

/*
 * The number of a function, if it runs that code object; else 0. CPython 3.11 numbers functions,
 * not code objects. A function gets no other code without losing its number, and no other one gets
 * it.
 */
static __always_inline __u32 python_function_version(struct interpreter_walk *program,
						     __u64 function, __u64 code)
{
	const struct wire_python *python = &program->python;

	if (bpf_probe_read_user(program->code, PYTHON_FUNCTION_BYTES, (const void *)function) ||
	    CODE_WORD(program->code, python->function_code) != code)
		return 0;
	return CODE_INT(program->code, python->function_version);
}

/*
 * Notes the function that runs a code object which was read just now: if it has a number, that is
 * what will be read of both. It gets it only when it was called some times, or never.
 */
static __always_inline void python_note_function(struct interpreter_walk *program,
						 struct known_code *known, __u64 function)
{
	if (known->function != function) {
		known->function = function;
		known->seen = 0;
		return;
	}
	program->id = known->id;
	if (known->seen++ % PYTHON_TRIES == 0 && is_sent(program))
		known->version = python_function_version(program, function, known->code);
}

/* Whether what is known of a code object, which `function` runs, holds in this walk. */
static __always_inline bool python_is_known(struct interpreter_walk *program,
					    struct known_code *known, __u64 code, __u64 function)
{
	const struct wire_python *python = &program->python;
	__u32 version = 0;

	if (known->code != code)
		return false;
	if (known->walk == program->walk)
		return true;
	if (!known->version || known->seed != program->seed)
		return false;
	if (known->made != program->made || !program->made) {
		if (python->function_version)
			version = known->function == function
					  ? python_function_version(program, function, code)
					  : 0;
		else
			bpf_probe_read_user(&version, sizeof(version),
					    (const void *)(code + python->code_version));
		if (version != known->version)
			return false;
		known->made = program->made;
	}
	known->walk = program->walk;
	return true;
}

/* Makes a code object that `function` runs a known one. False: it cannot be read. */
static __always_inline bool python_know(struct interpreter_walk *program, __u32 number, __u64 code,
					__u64 function, struct known_code **ret_known)
{
	__u32 at = code_place(program, code);

	OPAQUE(at);
	*ret_known = &program->codes[at % KNOWN_CODES];
	if (LIKELY(python_is_known(program, *ret_known, code, function)))
		return true;
	if (python_take_code(number, code, at))
		return false;
	if (program->python.function_version)
		python_note_function(program, *ret_known, function);
	return true;
}

/*
 * Stages the frame that the walk is at, and goes to the one that called it; an enum program_step.
 * Frames that have not begun are left out, as CPython itself does; generators have no such rule.
 */
__noinline int python_step(__u32 number)
{
	struct scratch *slot = slot_of(WIRE_LANGUAGE_PYTHON, number);
	const struct wire_python *python;
	struct interpreter_walk *program;
	struct known_code *known;
	const __u8 *copy;
	__u64 frame, at, code, owner;

	if (!slot)
		return PROGRAM_FAILED;
	program = &slot->program;
	python = &program->python;
	frame = program->frame;
	if (!frame)
		return program_fail(program, WIRE_CODE_TORN);
	at = frame - program->window.from;
	if (at > program->window.last)
		at = (__s64)python_move_window(number);
	OPAQUE(at);
	if (at > PYTHON_ON_STACK)
		return program_fail(program, WIRE_CODE_UNREADABLE);
	copy = program->window.bytes + at;
	program->frame = FRAME_WORD(copy, python->frame_previous);
	owner = FRAME_BYTE(copy, python->frame_owner);
	if (owner == python->owner_entry && python->owner_entry) {
		if (python->form == WIRE_PYTHON_FRAMES)
			program->anchor = frame;
		return PROGRAM_RUN_ENDED;
	}
	code = FRAME_WORD(copy, python->frame_code) & ~(__u64)python->code_tag;
	if (!python_know(program, number, code, FRAME_WORD(copy, python->frame_function), &known))
		return program_fail(program, WIRE_CODE_UNREADABLE);
	at = program->n;
	OPAQUE(at);
	if (at < WIRE_MAX_DEPTH && (owner == python->owner_generator ||
				    FRAME_WORD(copy, python->frame_instruction) >= known->first)) {
		__u64 id = python_id_at(program, number, known, code,
					FRAME_WORD(copy, python->frame_instruction) - code -
						python->code_bytes);

		slot->frames[STAGED_AT + at] =
			WIRE_FRAME_CODE | (__u64)WIRE_LANGUAGE_PYTHON << WIRE_FRAME_LANGUAGE_SHIFT |
			id;
		program->n = at + 1;
	}
	return python->frame_is_entry && FRAME_BYTE(copy, python->frame_is_entry)
		       ? PROGRAM_RUN_ENDED
		       : PROGRAM_MORE;
}

/* Stages up to PROGRAM_STEPS frames; an enum program_step. */
__noinline int python_steps(__u32 number)
{
	int step = PROGRAM_MORE;

	for (__u32 i = 0; i < PROGRAM_STEPS && step == PROGRAM_MORE; i++) {
		step = python_step(number);
		OPAQUE(step);
	}
	return step;
}

/* Reads a record, if that was not the last one to be read. */
static __always_inline bool python_take_record(struct interpreter_walk *program, __u64 record)
{
	const struct wire_python *python = &program->python;

	if (program->record == record)
		return true;
	if (bpf_probe_read_user(program->code, PYTHON_RECORD_BYTES, (const void *)record))
		return false;
	program->record = record;
	program->record_current = CODE_WORD(program->code, python->cframe_current);
	program->record_previous = CODE_WORD(program->code, python->cframe_previous);
	return true;
}

/* Begins a run of a version that has records on the C stack. False: there is none. */
static __always_inline bool python_begin_record(struct interpreter_walk *program)
{
	__u64 record = program->next;

	if (!python_take_record(program, record)) {
		program->next = 0;
		program->reason = WIRE_CODE_UNREADABLE;
		return false;
	}
	program->frame = program->record_current;
	program->next = program->record_previous;
	/* The outermost record, in the thread's state, has no frames. */
	if (!program->next)
		return false;
	program->anchor = record;
	return true;
}

/*
 * Whether the frame that the run's first one was called from is the one that the record before has:
 * if not, the record was not linked or filled yet.
 */
static __always_inline bool python_is_linked(struct interpreter_walk *program)
{
	return python_take_record(program, program->next) &&
	       program->record_current == program->frame;
}

/*
 * Counts PROGRAM_STEPS records and as many frame objects from the slot's `frame` and `object` on.
 * Returns PROGRAM_MORE, PROGRAM_RUN_ENDED if both chains ended at the same time, or PROGRAM_FAILED.
 */
__noinline int python_count_some(__u32 number)
{
	struct scratch *slot = slot_of(WIRE_LANGUAGE_PYTHON, number);
	struct interpreter_walk *program;

	if (!slot)
		return PROGRAM_FAILED;
	program = &slot->program;
	for (__u32 i = 0; i < PROGRAM_STEPS; i++) {
		if (program->frame == program->last || !program->object)
			return program->frame == program->last && !program->object
				       ? PROGRAM_RUN_ENDED
				       : PROGRAM_FAILED;
		if (!read_word(&program->frame, program->frame + program->python.cframe_previous) ||
		    !read_word(&program->object, program->object + program->python.frame_previous))
			return PROGRAM_FAILED;
	}
	return PROGRAM_MORE;
}

/*
 * Whether there are as many records as frame objects. If not, one of them is being linked, and all
 * frames would be taken for their neighbours'.
 */
__noinline int python_is_paired(__u32 number)
{
	struct scratch *slot = slot_of(WIRE_LANGUAGE_PYTHON, number);
	int step = PROGRAM_MORE;
	__u64 object;

	if (!slot)
		return 0;
	object = slot->program.object;
	slot->program.frame = slot->program.next;
	for (__u32 i = 0; i < PROGRAM_ROUNDS && step == PROGRAM_MORE; i++) {
		step = python_count_some(number);
		OPAQUE(step);
	}
	slot->program.object = object;
	return step == PROGRAM_RUN_ENDED;
}

/* Finds the key of the threads' states, which a process keeps. False: it has none that we can use.
 */
static __always_inline bool python_take_key(struct interpreter_walk *program)
{
	__u32 key[2] = { 0 }; /* whether there is one */

	if (program->key_seed == program->seed)
		return true;
	if (bpf_probe_read_user(key, sizeof(key),
				(const void *)(program->python.tss_key + program->bias)) ||
	    !key[0] || key[1] >= PTHREAD_KEYS)
		return false;
	program->key = key[1];
	program->key_seed = program->seed;
	return true;
}

/* Finds the state of the thread, and where its first run begins. Sets the reason if there is none.
 */
static __always_inline bool python_find_state(struct scratch *slot, __u32 number)
{
	const struct task_struct *task = (void *)bpf_get_current_task();
	struct interpreter_walk *program = &slot->program;
	const struct wire_python *python = &program->python;
	__u64 thread = BPF_CORE_READ(task, thread.fsbase), state = 0;

	program->reason = WIRE_CODE_NO_STATE;
	if (!python->current || !read_word(&state, python->current + program->bias) ||
	    !python_take_state(program, state, thread)) {
		if (!python_take_key(program) ||
		    !read_word(&state, thread + PTHREAD_SPECIFIC + 16ull * program->key + 8) ||
		    !python_take_state(program, state, thread))
			return false;
	}
	program->ordered = python->form == WIRE_PYTHON_CHAIN;
	program->next = CODE_WORD(program->code, python->top);
	program->last = state + python->thread_record;
	program->object = CODE_WORD(program->code, python->thread_frame);
	python_take_made(program);
	if (python->form == WIRE_PYTHON_OBJECTS && !python_is_paired(number)) {
		program->reason = WIRE_CODE_TORN;
		return false;
	}
	program->reason = WIRE_CODE_UNMATCHED;
	return true;
}

/* Stages `object`, a run of its own, and sets it to the frame object that called it. */
static __always_inline void python_take_object(struct scratch *slot, __u32 number)
{
	struct interpreter_walk *program = &slot->program;
	const struct wire_python *python = &program->python;
	__u64 object = program->object, code = 0;
	struct known_code *known;
	__u32 instruction = 0;

	program->run_reason = WIRE_CODE_UNREADABLE;
	program->object = 0;
	if (!read_word(&code, object + python->frame_code) ||
	    !read_word(&program->object, object + python->frame_previous))
		return;
	if (!python_know(program, number, code, 0, &known))
		return;
	program->run_reason = WIRE_CODE_KNOWN;
	if (config_has(WIRE_LINES))
		bpf_probe_read_user(&instruction, sizeof(instruction),
				    (const void *)(object + python->frame_instruction));
	if (python->form == WIRE_PYTHON_OBJECTS) /* 3.10 counts instructions of two bytes */
		instruction *= 2;
	slot->frames[STAGED_AT] = WIRE_FRAME_CODE |
				  (__u64)WIRE_LANGUAGE_PYTHON << WIRE_FRAME_LANGUAGE_SHIFT |
				  python_id_at(program, number, known, code, instruction);
	program->n = 1;
}

/* Stages the next frame object; with records, the one that belongs to the next record. */
static __always_inline void python_object_run(struct scratch *slot, __u32 number)
{
	struct interpreter_walk *program = &slot->program;
	__u64 record = program->next;

	if (program->ordered) {
		program->object = record;
		program->anchor = 1;
		python_take_object(slot, number);
		program->next = program->object;
		return;
	}
	program->next = 0;
	if (record == program->last ||
	    !read_word(&program->next, record + program->python.cframe_previous))
		return;
	program->anchor = record;
	python_take_object(slot, number);
}

/* Stages the next run and its anchor; without one, `anchor` is 0. */
__noinline int python_run(__u32 number)
{
	struct scratch *slot = slot_of(WIRE_LANGUAGE_PYTHON, number);
	struct interpreter_walk *program;
	int step = PROGRAM_MORE;

	if (!slot || slot->program.language != WIRE_LANGUAGE_PYTHON)
		return 0;
	program = &slot->program;
	program->anchor = 0;
	program->n = 0;
	program->run_reason = WIRE_CODE_KNOWN;
	if (!program->next)
		return 0;
	if (program->python.form >= WIRE_PYTHON_OBJECTS) {
		python_object_run(slot, number);
		return 0;
	}
	if (program->python.form == WIRE_PYTHON_FRAMES)
		program->frame = program->next;
	else if (!python_begin_record(program))
		return 0;
	for (__u32 i = 0; i < PROGRAM_ROUNDS && step == PROGRAM_MORE; i++) {
		step = python_steps(number);
		OPAQUE(step);
	}
	if (step == PROGRAM_MORE)
		program->run_reason = WIRE_CODE_TOO_DEEP;
	if (program->python.form == WIRE_PYTHON_FRAMES) {
		program->next = step == PROGRAM_RUN_ENDED ? program->frame : 0;
		if (step != PROGRAM_RUN_ENDED)
			program->reason = program->run_reason;
	} else if (step == PROGRAM_RUN_ENDED && !python_is_linked(program)) {
		program->run_reason = WIRE_CODE_TORN;
	}
	return 0;
}

#endif
