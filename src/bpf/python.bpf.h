/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The frames of CPython, from 3.11 on. Whatever is read belongs to the process and may be anything:
 * loops are bounded, and each pointer is read with a helper that fails where it leads nowhere. A
 * state belongs to this thread only if it says so, a function is one only if its type is right, and
 * a run is in the stack only if its anchor is in a native frame.
 */
#ifndef STACKTALLY_BPF_PYTHON_BPF_H
#define STACKTALLY_BPF_PYTHON_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "bpf/hints.h"
#include "bpf/interpreter_wire.h"
#include "bpf/kernel.bpf.h"
#include "bpf/program_names.bpf.h"
#include "bpf/scratch.bpf.h"

static __always_inline bool read_word(__u64 *to, __u64 address)
{
	return bpf_probe_read_user(to, sizeof(*to), (const void *)address) == 0;
}

/* A word, and a byte, of what was read of a frame or a code object. */
#define FRAME_WORD(program, offset)                                                                \
	((program)->frame_words[(offset) / 8 < PYTHON_FRAME_SIZE / 8 ? (offset) / 8 : 0])
#define FRAME_BYTE(program, offset) ((FRAME_WORD(program, offset) >> ((offset) % 8 * 8)) & 0xff)
#define CODE_WORD(program, offset)                                                                 \
	((program)->code_words[(offset) / 8 % (PYTHON_CODE_SIZE / 8)])
#define CODE_INT(program, offset) ((__u32)(CODE_WORD(program, offset) >> ((offset) % 8 * 8)))

/*
 * Keys below this one have their values in glibc's struct pthread itself, in pairs of a sequence
 * number and the value, from PTHREAD_SPECIFIC on. That a state found there belongs to the thread is
 * checked.
 */
#define PTHREAD_KEYS	 32
#define PTHREAD_SPECIFIC 0x310

/* Whether a state is that of the thread, which it names by pthread_self(): glibc's thread pointer. */
static __always_inline bool is_state_of(__u64 state, const struct wire_python *python, __u64 thread)
{
	__u64 of;

	return state && read_word(&of, state + python->thread_id) && of == thread;
}

/* Finds the state of the thread, and where its first run begins. Sets the reason if there is none. */
static __always_inline bool python_find_state(struct scratch *slot,
					      const struct wire_python *python)
{
	const struct task_struct *task = (void *)bpf_get_current_task();
	struct interpreter_walk *program = &slot->program;
	__u64 thread = BPF_CORE_READ(task, thread.fsbase), state = 0;
	__u32 key[2] = { 0 };

	program->reason = WIRE_CODE_NO_STATE;
	if (!python->current || !read_word(&state, python->current + program->bias) ||
	    !is_state_of(state, python, thread)) {
		if (bpf_probe_read_user(key, sizeof(key),
					(const void *)(python->tss_key + program->bias)))
			return false;
		if (!key[0] || key[1] >= PTHREAD_KEYS)
			return false;
		if (!read_word(&state, thread + PTHREAD_SPECIFIC + 16ull * key[1] + 8) ||
		    !is_state_of(state, python, thread))
			return false;
	}
	if (!read_word(&program->next, state + python->top))
		return false;
	program->reason = WIRE_CODE_UNMATCHED;
	return true;
}

enum python_step {
	PYTHON_MORE,
	PYTHON_RUN_ENDED, /* `frame` is that of the evaluator's caller, or NULL */
	PYTHON_FAILED,	  /* run_reason says why */
};

static __always_inline int python_fail(struct interpreter_walk *program, __u32 reason)
{
	program->run_reason = reason;
	return PYTHON_FAILED;
}

/* Takes the code object's properties. False: it is none. */
static __always_inline bool python_take_code(struct interpreter_walk *program,
					     const struct wire_python *python, __u64 code)
{
	__u64 size = python->code_bytes;

	OPAQUE(size);
	if (size > PYTHON_CODE_SIZE ||
	    bpf_probe_read_user(program->code_words, size, (const void *)code))
		return false;
	if (CODE_WORD(program, python->type) != python->code_type + program->bias)
		return false;
	program->name = CODE_WORD(program, python->code_name);
	program->file = CODE_WORD(program, python->code_file);
	program->line = CODE_INT(program, python->code_line);
	return true;
}

/*
 * Sets what tells the code object from others that were at its address: its number, or for want of
 * one its strings.
 */
static __always_inline void python_take_content(struct interpreter_walk *program, __u32 number,
						const struct wire_python *python)
{
	program->content = 0;
	if (python->code_version)
		program->content = CODE_INT(program, python->code_version);
	if (LIKELY(program->content))
		return;
	if (program->name != program->last_name) {
		program->last_name_hash = text_hash(number, program->name, false);
		program->last_name = program->name;
	}
	if (program->file != program->last_file) {
		program->last_file_hash = text_hash(number, program->file, true);
		program->last_file = program->file;
	}
	program->content = program->last_name_hash * 0xd6e8feb86659fd93ull ^ program->last_file_hash;
}

/*
 * Whether the frame has begun: CPython itself does not show others. Generators have no such rule.
 */
static __always_inline bool python_has_begun(struct interpreter_walk *program,
					     const struct wire_python *python, __u64 code)
{
	__u64 first = code + python->code_bytes + 2ull * CODE_INT(program, python->code_first);

	return FRAME_BYTE(program, python->frame_owner) == python->owner_generator ||
	       FRAME_WORD(program, python->frame_instruction) >= first;
}

/* Stages the frame that the walk is at, and goes to the one that called it. */
static __always_inline int python_frame(struct scratch *slot, __u32 number,
					const struct wire_python *python)
{
	struct interpreter_walk *program = &slot->program;
	__u64 at = program->n, code, frame = program->frame;
	bool is_entry_frame;

	if (bpf_probe_read_user(program->frame_words, PYTHON_FRAME_SIZE, (const void *)frame))
		return python_fail(program, WIRE_CODE_UNREADABLE);
	program->frame = FRAME_WORD(program, python->frame_previous);
	is_entry_frame = python->form != WIRE_PYTHON_ENTRY_FLAG &&
			 FRAME_BYTE(program, python->frame_owner) == python->owner_entry;
	if (is_entry_frame) {
		if (python->form == WIRE_PYTHON_FRAMES)
			program->anchor = frame;
		return PYTHON_RUN_ENDED;
	}
	code = FRAME_WORD(program, python->frame_code) & ~(__u64)python->code_tag;
	if (!python_take_code(program, python, code))
		return python_fail(program, WIRE_CODE_UNREADABLE);
	if (python_has_begun(program, python, code)) {
		python_take_content(program, number, python);
		program->id = code_id(program, code);
		if (!is_sent(program))
			send_code_name(number);
		OPAQUE(at);
		if (at < WIRE_MAX_DEPTH) {
			slot->frames[STAGED_AT + at] =
				WIRE_FRAME_CODE |
				(__u64)WIRE_LANGUAGE_PYTHON << WIRE_FRAME_LANGUAGE_SHIFT |
				program->id;
			program->n = at + 1;
		}
	}
	if (python->form == WIRE_PYTHON_ENTRY_FLAG &&
	    FRAME_BYTE(program, python->frame_is_entry))
		return PYTHON_RUN_ENDED;
	return PYTHON_MORE;
}

#define PYTHON_STEPS  16
#define PYTHON_ROUNDS 128 /* 2,048 frames of a run */

/* Stages up to PYTHON_STEPS frames; an enum python_step. A global function: verified once. */
__noinline int python_frames(__u32 number)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	const struct wire_interpreter *interpreter;
	__u32 key;
	int step = PYTHON_MORE;

	if (!slot)
		return PYTHON_FAILED;
	key = slot->interpreter;
	interpreter = bpf_map_lookup_elem(&interpreters, &key);
	if (!interpreter)
		return PYTHON_FAILED;
	for (__u32 i = 0; i < PYTHON_STEPS && step == PYTHON_MORE; i++) {
		if (!slot->program.frame)
			return python_fail(&slot->program, WIRE_CODE_TORN);
		step = python_frame(slot, number, &interpreter->python);
	}
	return step;
}

/* Begins a run of a version that has records on the C stack. False: there is none. */
static __always_inline bool python_begin_record(struct interpreter_walk *program,
						const struct wire_python *python)
{
	__u64 record = program->next;

	if (!read_word(&program->frame, record + python->cframe_current) ||
	    !read_word(&program->next, record + python->cframe_previous)) {
		program->next = 0;
		program->reason = WIRE_CODE_UNREADABLE;
		return false;
	}
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
static __always_inline bool python_is_linked(const struct interpreter_walk *program,
					     const struct wire_python *python)
{
	__u64 current;

	return read_word(&current, program->next + python->cframe_current) &&
	       current == program->frame;
}

/* Stages the next run and its anchor; without one, `anchor` is 0. */
__noinline int python_run(__u32 number)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	const struct wire_interpreter *interpreter;
	struct interpreter_walk *program;
	int step = PYTHON_MORE;
	bool has_records;
	__u32 key;

	if (!slot)
		return 0;
	program = &slot->program;
	key = slot->interpreter;
	interpreter = bpf_map_lookup_elem(&interpreters, &key);
	program->anchor = 0;
	program->n = 0;
	program->run_reason = WIRE_CODE_KNOWN;
	if (!interpreter || !program->next)
		return 0;
	has_records = interpreter->python.form != WIRE_PYTHON_FRAMES;
	if (!has_records)
		program->frame = program->next;
	else if (!python_begin_record(program, &interpreter->python))
		return 0;
	for (__u32 i = 0; i < PYTHON_ROUNDS && step == PYTHON_MORE; i++) {
		step = python_frames(number);
		OPAQUE(step);
	}
	if (step == PYTHON_MORE)
		program->run_reason = WIRE_CODE_TOO_DEEP;
	if (has_records) {
		if (step == PYTHON_RUN_ENDED &&
		    !python_is_linked(program, &interpreter->python))
			program->run_reason = WIRE_CODE_TORN;
	} else {
		program->next = step == PYTHON_RUN_ENDED ? program->frame : 0;
		if (step != PYTHON_RUN_ENDED)
			program->reason = program->run_reason;
	}
	return 0;
}

#endif
