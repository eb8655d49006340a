/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The frames of CPython, from 3.6 on. Whatever is read belongs to the process and may be anything:
 * loops are bounded, and each pointer is read with a helper that fails where it leads nowhere. A
 * state belongs to this thread only if it says so, a function is one only if its type is right, and
 * a run is in the stack only if its anchor is in a native frame (until 3.9 there are no anchors).
 */
#ifndef STACKTALLY_LANGUAGES_PYTHON_BPF_H
#define STACKTALLY_LANGUAGES_PYTHON_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/hints.h"
#include "bpf/interpreter_wire.h"
#include "bpf/scratch.bpf.h"
#include "bpf/unwind_cache.bpf.h"
#include "bpf/window.bpf.h"
#include "languages/interp_names.bpf.h"
#include "languages/interp_run.bpf.h"
#include "languages/python_code.bpf.h"

#define PYTHON_STATE_BYTES  192 /* of a thread's state, less than CODE_CAPACITY */
#define PYTHON_RECORD_BYTES 24	/* of a record on the C stack */

/*
 * Copies a state to the walk's `code`. Whether it is that of the thread, which it names by
 * pthread_self(): the thread pointer, in glibc and musl. Of versions to come it is not known where
 * it does; their states are found in the thread's own data only.
 */
static __always_inline bool python_take_state(struct interpreter_walk *interp, __u64 state,
					      __u64 thread)
{
	return state &&
	       bpf_probe_read_user(interp->code, PYTHON_STATE_BYTES, (const void *)state) == 0 &&
	       (!interp->python.thread_id ||
		CODE_WORD(interp->code, interp->python.thread_id) == thread);
}

/*
 * Notes how many code objects the thread's interpreter has numbered: while it numbers none, what is
 * at the address of a known one is still that. Only the main interpreter is in the file's variable.
 */
static __always_inline void python_take_made(struct interpreter_walk *interp)
{
	__u64 interpreter = CODE_WORD(interp->code, interp->python.interpreter);
	__u64 from = interp->python.runtime + interp->bias;
	__u32 next = 0;

	if (interpreter - from < interp->python.next_version &&
	    bpf_probe_read_user(&next, sizeof(next),
				(const void *)(from + interp->python.next_version)) == 0 &&
	    next)
		interp->python_walk.made = interpreter * 0x9fb21c651e98df25ull + next;
	interp->python_walk.next_version = next;
}

/*
 * Stages the frame that the walk is at, and goes to the one that called it; an enum interp_step.
 * Frames that have not begun are left out, as CPython itself does; generators have no such rule.
 */
static __always_inline int python_step(struct scratch *slot, __u32 number)
{
	struct interpreter_walk *interp = &slot->interp;
	const struct wire_python *python = &interp->python;
	__u64 frame = interp->frame, at, code, owner;
	struct known_script *known;
	const __u8 *copy;

	if (!frame)
		return interp_fail(interp, WIRE_SCRIPT_TORN);
	at = frame - interp->window.from;
	if (at > interp->window.last)
		at = (__s64)frame_window_move(number);
	OPAQUE(at);
	if (at > FRAME_ON_STACK)
		return interp_fail(interp, WIRE_SCRIPT_UNREADABLE);
	copy = interp->window.bytes + at;
	interp->frame = FRAME_WORD(copy, python->frame_previous);
	owner = FRAME_BYTE(copy, python->frame_owner);
	if (owner == python->owner_entry && python->owner_entry) {
		if (python->form == WIRE_PYTHON_FRAMES)
			interp->anchor = frame;
		return INTERP_RUN_ENDED;
	}
	code = FRAME_WORD(copy, python->frame_code) & ~(__u64)python->code_tag;
	if (!python_know(interp, number, code, FRAME_WORD(copy, python->frame_function), &known))
		return interp_fail(interp, WIRE_SCRIPT_UNREADABLE);
	if (interp->n < WIRE_MAX_DEPTH &&
	    (owner == python->owner_generator ||
	     FRAME_WORD(copy, python->frame_instruction) >= known->first))
		interp_stage(slot, LANGUAGE_PYTHON,
			     python_id_at(interp, number, known, code,
					  FRAME_WORD(copy, python->frame_instruction) - code -
						  python->code_bytes));
	return python->frame_is_entry && FRAME_BYTE(copy, python->frame_is_entry) ? INTERP_RUN_ENDED
										  : INTERP_MORE;
}

/*
 * The verifier goes through each step that is taken at a time, and through each round: so there are
 * rounds of rounds, as many frames as with other languages in all.
 */
#define PYTHON_STEPS 2
#define PYTHON_SOME  (INTERP_STEPS / PYTHON_STEPS)

/* Stages up to PYTHON_STEPS frames; an enum interp_step. */
__noinline int python_steps(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_PYTHON, number);
	int step = INTERP_MORE;

	if (!slot)
		return INTERP_FAILED;
	for (__u32 i = 0; i < PYTHON_STEPS && step == INTERP_MORE; i++) {
		step = python_step(slot, number);
		OPAQUE(step);
	}
	return step;
}

/* Stages up to INTERP_STEPS frames; an enum interp_step. */
__noinline int python_some(__u32 number)
{
	int step = INTERP_MORE;

	for (__u32 i = 0; i < PYTHON_SOME && step == INTERP_MORE; i++) {
		step = python_steps(number);
		OPAQUE(step);
	}
	return step;
}

/*
 * Reads a record, if that was not the last one to be read: from the part of the stack that the
 * native walk has copied, which begins with what the walk comes to next, if the record is close.
 */
static __always_inline bool python_take_record(struct scratch *slot, __u32 number, __u64 record)
{
	struct interpreter_walk *interp = &slot->interp;
	const struct wire_python *python = &interp->python;
	__u64 sp = slot->walk.registers[UNWIND_SP];

	if (interp->python_walk.record == record)
		return true;
	if (record + PYTHON_RECORD_BYTES - slot->window.from > slot->window.size &&
	    record - sp < WINDOW_SIZE - WINDOW_SLACK - PYTHON_RECORD_BYTES)
		window_bring(number, sp, sizeof(__u64));
	if (!window_peek(slot, &interp->python_walk.record_current,
			 record + python->cframe_current) ||
	    !window_peek(slot, &interp->python_walk.record_previous,
			 record + python->cframe_previous)) {
		if (bpf_probe_read_user(interp->code, PYTHON_RECORD_BYTES, (const void *)record))
			return false;
		interp->python_walk.record_current =
			CODE_WORD(interp->code, python->cframe_current);
		interp->python_walk.record_previous =
			CODE_WORD(interp->code, python->cframe_previous);
	}
	interp->python_walk.record = record;
	return true;
}

/*
 * Begins a run of a version that has records on the C stack. False: there is none. A record leads
 * to its run's frame; if the run before ended well, it has led there, too, and the record is read
 * when the native walk has come to it.
 */
static __always_inline bool python_begin_record(struct scratch *slot, __u32 number)
{
	struct interpreter_walk *interp = &slot->interp;
	__u64 record = interp->next;

	interp->next = 0;
	if (!interp->python_walk.linked) {
		if (!python_take_record(slot, number, record)) {
			interp->reason = WIRE_SCRIPT_UNREADABLE;
			return false;
		}
		interp->frame = interp->python_walk.record_current;
		interp->next = interp->python_walk.record_previous;
		/* The outermost record, in the thread's state, has no frames. */
		if (!interp->next)
			return false;
	} else if (!interp->frame) {
		return false;
	}
	interp->python_walk.object = interp->frame;
	interp->anchor = record;
	return true;
}

/*
 * Ends a run of a version that has records. The one that was found by its record ends with the
 * frame that the record before has: if not, the record was not linked or filled yet.
 */
static __always_inline void python_end_record(struct scratch *slot, __u32 number, bool ended)
{
	struct interpreter_walk *interp = &slot->interp;

	if (ended && interp->next &&
	    !(python_take_record(slot, number, interp->next) &&
	      interp->python_walk.record_current == interp->frame)) {
		interp->run_reason = WIRE_SCRIPT_TORN;
		ended = false;
	}
	interp->python_walk.linked = ended;
}

/*
 * The native walk has come to the record of the staged run. If that was not read yet, it must have
 * the frame that the run begins with, and leads to the record before.
 */
#define python_has_arrives 1
__noinline int python_arrives(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_PYTHON, number);
	struct interpreter_walk *interp;

	if (!slot)
		return 0;
	interp = &slot->interp;
	if (interp->language != LANGUAGE_PYTHON || interp->next ||
	    interp->python.form >= WIRE_PYTHON_FRAMES)
		return 0;
	if (!python_take_record(slot, number, interp->anchor)) {
		interp->reason = WIRE_SCRIPT_UNREADABLE;
		return 0;
	}
	interp->next = interp->python_walk.record_previous;
	if (interp->python_walk.record_current != interp->python_walk.object) {
		interp->run_reason = WIRE_SCRIPT_TORN;
		interp->python_walk.linked = 0;
	}
	return 0;
}

/*
 * Counts INTERP_STEPS records and as many frame objects from the slot's `frame` and `object` on.
 * Returns INTERP_MORE, INTERP_RUN_ENDED if both chains ended at the same time, or INTERP_FAILED.
 */
__noinline int python_count_some(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_PYTHON, number);
	struct interpreter_walk *interp;

	if (!slot)
		return INTERP_FAILED;
	interp = &slot->interp;
	for (__u32 i = 0; i < INTERP_STEPS; i++) {
		if (interp->frame == interp->python_walk.last || !interp->python_walk.object)
			return interp->frame == interp->python_walk.last &&
					       !interp->python_walk.object
				       ? INTERP_RUN_ENDED
				       : INTERP_FAILED;
		if (!read_word(&interp->frame, interp->frame + interp->python.cframe_previous) ||
		    !read_word(&interp->python_walk.object,
			       interp->python_walk.object + interp->python.frame_previous))
			return INTERP_FAILED;
	}
	return INTERP_MORE;
}

/*
 * Whether there are as many records as frame objects. If not, one of them is being linked, and all
 * frames would be taken for their neighbours'.
 */
__noinline int python_is_paired(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_PYTHON, number);
	int step = INTERP_MORE;
	__u64 object;

	if (!slot)
		return 0;
	object = slot->interp.python_walk.object;
	slot->interp.frame = slot->interp.next;
	for (__u32 i = 0; i < INTERP_ROUNDS && step == INTERP_MORE; i++) {
		step = python_count_some(number);
		OPAQUE(step);
	}
	slot->interp.python_walk.object = object;
	return step == INTERP_RUN_ENDED;
}

/* Finds the key of the threads' states, which a process keeps. False: it has none that we can use.
 */
static __always_inline bool python_take_key(struct interpreter_walk *interp)
{
	const struct wire_python *python = &interp->python;
	__u32 key[2] = { 1 }; /* whether there is one */

	if (interp->python_walk.key_seed == interp->seed)
		return true;
	if (python->key ? bpf_probe_read_user(&key[1], sizeof(key[1]),
					      (const void *)(python->key + interp->bias))
			: bpf_probe_read_user(key, sizeof(key),
					      (const void *)(python->runtime + interp->bias +
							     python->tss_key)))
		return false;
	if (!key[0] || key[1] >= PTHREAD_KEYS)
		return false;
	interp->python_walk.key = key[1];
	interp->python_walk.key_seed = interp->seed;
	return true;
}

/* Takes the state that the thread has for the key: as the C library that was met last keeps it, or
 * as the other one does. */
static __always_inline bool python_take_value(struct interpreter_walk *interp, __u64 thread,
					      __u64 *ret_state)
{
	if (!python_take_key(interp))
		return false;
	for (__u32 i = 0; i < 2; i++) {
		if (read_thread_value(ret_state, thread, interp->python_walk.key,
				      interp->python_walk.musl) &&
		    python_take_state(interp, *ret_state, thread))
			return true;
		interp->python_walk.musl = !interp->python_walk.musl;
	}
	return false;
}

/*
 * Takes the state that the thread's own data has: a value with a key, or from 3.15 on a variable.
 */
static __always_inline bool python_take_own_state(struct interpreter_walk *interp, __u64 thread,
						  __u64 *ret_state)
{
	const struct wire_python *python = &interp->python;
	__u64 data = thread;

	if (python->tss_key || python->key)
		return python_take_value(interp, thread, ret_state);
	if (python->tls_slot)
		data = thread_data(interp, python->tls_slot, thread);
	return data && read_word(ret_state, data + python->tls_offset) &&
	       python_take_state(interp, *ret_state, thread);
}

/* Loads what is known of the last walk's functions into the processor's cache, all at once. */
static __always_inline void python_prefetch(struct interpreter_walk *interp)
{
	for (__u32 i = 0; i < MET_SCRIPTS; i++)
		prefetch(&interp->codes[interp->python_walk.met[i] % KNOWN_SCRIPTS]);
	interp->python_walk.n_met = 0;
}

/*
 * Copies the state of the thread to the walk's `code`: that of the thread which holds the lock, or
 * the thread's own. Returns its address; 0: it was not found. A global function: what it takes of
 * the stack is free again when functions are walked.
 */
__noinline __u64 python_state(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_PYTHON, number);
	__u64 thread = thread_pointer(), state = 0;
	struct interpreter_walk *interp;

	if (!slot)
		return 0;
	interp = &slot->interp;
	if (interp->python.current &&
	    read_word(&state, interp->python.runtime + interp->python.current + interp->bias) &&
	    python_take_state(interp, state, thread))
		return state;
	return python_take_own_state(interp, thread, &state) ? state : 0;
}

/* Finds the state of the thread, and where its first run begins. Sets the reason if there is none.
 */
static __always_inline bool python_find_state(struct scratch *slot, __u32 number)
{
	struct interpreter_walk *interp = &slot->interp;
	const struct wire_python *python = &interp->python;
	__u64 state;

	python_prefetch(interp);
	interp->python_walk.record = 0;
	interp->python_walk.made = 0;
	interp->python_walk.functions.from = 0;
	interp->python_walk.functions.last = 0;
	interp->reason = WIRE_SCRIPT_NO_STATE;
	state = python_state(number);
	if (!state)
		return false;
	interp->ordered = python->form == WIRE_PYTHON_CHAIN;
	interp->python_walk.linked = 0;
	interp->next = CODE_WORD(interp->code, python->top);
	interp->python_walk.last = state + python->thread_record;
	interp->python_walk.object = CODE_WORD(interp->code, python->thread_frame);
	python_take_made(interp);
	if (python->form == WIRE_PYTHON_OBJECTS && !python_is_paired(number)) {
		interp->reason = WIRE_SCRIPT_TORN;
		return false;
	}
	interp->reason = WIRE_SCRIPT_UNMATCHED;
	return true;
}

/* Stages `object`, a run of its own, and sets it to the frame object that called it. */
static __always_inline void python_take_object(struct scratch *slot, __u32 number)
{
	struct interpreter_walk *interp = &slot->interp;
	const struct wire_python *python = &interp->python;
	__u64 object = interp->python_walk.object, code = 0;
	struct known_script *known;
	__u32 instruction = 0;

	interp->run_reason = WIRE_SCRIPT_UNREADABLE;
	interp->python_walk.object = 0;
	if (!read_word(&code, object + python->frame_code) ||
	    !read_word(&interp->python_walk.object, object + python->frame_previous))
		return;
	if (!python_know(interp, number, code, 0, &known))
		return;
	interp->run_reason = WIRE_SCRIPT_KNOWN;
	if (config_has(WIRE_LINES))
		bpf_probe_read_user(&instruction, sizeof(instruction),
				    (const void *)(object + python->frame_instruction));
	if (python->form == WIRE_PYTHON_OBJECTS) /* 3.10 counts instructions of two bytes */
		instruction *= 2;
	interp_stage(slot, LANGUAGE_PYTHON, python_id_at(interp, number, known, code, instruction));
}

/*
 * Stages the next frame object; with records, the one that belongs to the next record. A global
 * function: what it takes of the stack is free again when frames are walked.
 */
__noinline int python_object_run(__u32 number)
{
	struct scratch *slot = seldom_slot_of(LANGUAGE_PYTHON, number);
	struct interpreter_walk *interp;
	__u64 record;

	if (!slot)
		return 0;
	interp = &slot->interp;
	record = interp->next;
	if (interp->ordered) {
		interp->python_walk.object = record;
		interp->anchor = 1;
		python_take_object(slot, number);
		interp->next = interp->python_walk.object;
		return 0;
	}
	interp->next = 0;
	if (record == interp->python_walk.last ||
	    !read_word(&interp->next, record + interp->python.cframe_previous))
		return 0;
	interp->anchor = record;
	python_take_object(slot, number);
	return 0;
}

/* Stages the next run and its anchor; without one, `anchor` is 0. */
#define python_has_run 1
__noinline int python_run(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_PYTHON, number);
	struct interpreter_walk *interp;
	int step = INTERP_MORE;

	if (!slot || slot->interp.language != LANGUAGE_PYTHON)
		return 0;
	interp = &slot->interp;
	if (!interp_begin_run(interp))
		return 0;
	if (interp->python.form >= WIRE_PYTHON_OBJECTS)
		return python_object_run(number);
	if (interp->python.form == WIRE_PYTHON_FRAMES)
		interp->frame = interp->next;
	else if (!python_begin_record(slot, number))
		return 0;
	for (__u32 i = 0; i < INTERP_ROUNDS && step == INTERP_MORE; i++) {
		step = python_some(number);
		OPAQUE(step);
	}
	if (step == INTERP_MORE)
		interp->run_reason = WIRE_SCRIPT_TOO_DEEP;
	if (interp->python.form == WIRE_PYTHON_FRAMES) {
		interp->next = step == INTERP_RUN_ENDED ? interp->frame : 0;
		if (step != INTERP_RUN_ENDED)
			interp->reason = interp->run_reason;
	} else {
		python_end_record(slot, number, step == INTERP_RUN_ENDED);
	}
	return 0;
}

#endif
