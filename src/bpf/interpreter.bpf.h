/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Functions of interpreted programs in user stacks.
 *
 * An evaluator is the native function that runs a program. Each of its calls runs some functions of
 * the program, a run, and keeps something on its part of the C stack that the interpreter's own
 * chain of frames leads to: the anchor. So the native frame whose part of the stack, from its stack
 * pointer to its CFA, has the anchor is the run's evaluator, and the run stands in its place.
 *
 * A language (bpf/python.bpf.h) finds the thread's state and stages one run at a time, with its
 * anchor; the merge here puts runs and native frames in order. An evaluator's frame without a run
 * gets a frame that says why.
 */
#ifndef STACKTALLY_BPF_INTERPRETER_BPF_H
#define STACKTALLY_BPF_INTERPRETER_BPF_H

#include "bpf/hints.h"
#include "bpf/interpreter_wire.h"
#include "bpf/python.bpf.h"
#include "bpf/scratch.bpf.h"
#include "bpf/unwind_step.bpf.h"

/* The frame that stands for functions that are not known. */
static __always_inline __u64 reason_frame(const struct interpreter_walk *program, __u32 reason)
{
	return WIRE_FRAME_CODE | (__u64)program->language << WIRE_FRAME_LANGUAGE_SHIFT | reason;
}

/* Prepares the merge for the slot's walk: finds the state, stages the first run. */
__noinline int program_begin(__u32 number)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	const struct wire_interpreter *interpreter;
	struct interpreter_walk *program;
	__u32 key;

	if (!slot)
		return 0;
	program = &slot->program;
	program->anchor = 0;
	program->next = 0;
	program->n = 0;
	program->n_native = 0;
	program->run_reason = WIRE_CODE_KNOWN;
	program->evaluator_size = 0;
	program->last_name = 0;
	program->last_file = 0;
	key = slot->interpreter;
	interpreter = bpf_map_lookup_elem(&interpreters, &key);
	if (!interpreter || interpreter->language != WIRE_LANGUAGE_PYTHON)
		return 0;
	program->language = interpreter->language;
	program->bias = slot->layouts[slot->walk.tgid % CACHED_LAYOUTS].interpreter_bias;
	program->evaluator = interpreter->evaluator + program->bias;
	program->evaluator_size = interpreter->evaluator_end - interpreter->evaluator;
	program->seed = config.seed[1] ^ (slot->stack.image >> 32) ^
			(__u64)slot->walk.tgid << 32;
	program->reason = interpreter->refused;
	slot->stack.flags |= WIRE_STACK_PROGRAM;
	if (program->reason)
		return 0;
	program->reason = WIRE_CODE_UNMATCHED;
	if (python_find_state(slot, &interpreter->python))
		python_run(number);
	return 0;
}

/* Makes the staged run what stands in the stack: a frame that says why, if it is not known. */
static __always_inline __u64 program_settle_run(struct scratch *slot, bool *ret_keep)
{
	struct interpreter_walk *program = &slot->program;

	*ret_keep = config_has(WIRE_NATIVE);
	if (!program->run_reason && program->n)
		return program->n;
	slot->frames[STAGED_AT] = reason_frame(
		program, program->run_reason ? program->run_reason : WIRE_CODE_TORN);
	*ret_keep = true;
	return 1;
}

/*
 * Puts the staged run in place of the native frame in frames[at], or beside it, and stages the next
 * one. Returns how many frames there are now in place of that one, `room` at most.
 */
__noinline int program_place_run(__u32 number, __u32 at, __u32 room)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	__u64 to = at, n, native;
	bool keep;

	if (!slot)
		return 1;
	OPAQUE(to);
	if (to >= WIRE_MAX_DEPTH + WIRE_MAX_DEPTH)
		return 1;
	native = slot->frames[to];
	n = smaller(program_settle_run(slot, &keep), room);
	OPAQUE(n);
	if (n > WIRE_MAX_DEPTH)
		n = WIRE_MAX_DEPTH;
	bpf_probe_read_kernel(&slot->frames[to], n * sizeof(__u64), &slot->frames[STAGED_AT]);
	if (keep && n < room) {
		to += n;
		OPAQUE(to);
		if (to < 3 * WIRE_MAX_DEPTH)
			slot->frames[to] = native;
		n++;
	}
	python_run(number);
	return n;
}

/*
 * As walk_some(), with the program's functions in place of their evaluators' frames. `done` may
 * grow by more than WALK_STEPS, to config.user_depth at most.
 */
__noinline int walk_some_program(__u32 number, __u32 first, __u32 done)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	__u32 n = 0, end = WIRE_END_NONE;

	if (!slot)
		return WIRE_END_STALE << 16;
	for (__u32 i = 0; i < WALK_STEPS && !end; i++) {
		struct interpreter_walk *program = &slot->program;
		__u64 sp = slot->walk.registers[UNWIND_SP];
		__u64 into = slot->walk.pc - program->evaluator;
		__u64 anchor = program->anchor;

		if (done + n >= config.user_depth || !put_frame(slot, first + n, done + n)) {
			end = WIRE_END_DEPTH;
			break;
		}
		end = step_once(number);
		if (!end && anchor - sp < slot->walk.registers[UNWIND_SP] - sp && anchor) {
			n += program_place_run(number, first + n, config.user_depth - done - n);
		} else if (into < program->evaluator_size) {
			__u64 at = first + n;

			OPAQUE(at);
			if (at + 1 < 2 * WIRE_MAX_DEPTH && done + n + 1 < config.user_depth) {
				slot->frames[at + 1] = slot->frames[at];
				slot->frames[at] = reason_frame(
					program, program->n_native ? program->reason
								   : WIRE_CODE_TORN);
				n++;
			}
			n++;
		} else {
			n++;
		}
		program->n_native++;
		OPAQUE(n);
	}
	return n | end << 16;
}

#define REST_RUNS 256 /* with an unfinished walk */

/*
 * Writes the runs that the walk has not come to where they belong behind a stack of `words` frames;
 * returns how many words that takes.
 */
__noinline int program_append_runs(__u32 number, __u32 words)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	__u64 size = 0, first = words + sizeof(struct wire_rest) / sizeof(__u64);

	if (!slot)
		return 0;
	for (__u32 i = 0; i < REST_RUNS && slot->program.anchor; i++) {
		__u64 at = first + size, n;
		bool keep;

		n = program_settle_run(slot, &keep);
		OPAQUE(n);
		if (n > WIRE_MAX_DEPTH || size + 2 + n > WIRE_RUNS_WORDS)
			break;
		OPAQUE(at);
		if (at > 2 * WIRE_MAX_DEPTH + WIRE_RUNS_WORDS)
			break;
		slot->frames[at] = slot->program.anchor;
		slot->frames[at + 1] = n | (keep ? WIRE_RUN_KEEP : 0);
		bpf_probe_read_kernel(&slot->frames[at + 2], n * sizeof(__u64),
				      &slot->frames[STAGED_AT]);
		size += 2 + n;
		python_run(number);
	}
	return size;
}

#endif
