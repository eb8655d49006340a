/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Functions of interpreted programs in user stacks.
 *
 * An evaluator is the native function that runs a program. Each of its calls runs some functions of
 * the program, a run, and keeps something on its part of the C stack that the interpreter's own
 * chain of frames leads to: the anchor. So the native frame whose part of the stack, from its stack
 * pointer to its CFA, has the anchor is the run's evaluator, and the run stands in its place.
 *
 * A language (languages/hooks.bpf.h) finds the thread's
 * state and stages one run at a time, with its anchor; the merge here puts runs and native frames
 * in order. An evaluator's frame without a run gets a frame that says why. Where a process has
 * several interpreters, each native frame is that of one of them (languages/interp_turns.bpf.h).
 *
 * Where an interpreter keeps no anchors, the frames of its evaluator, known by their addresses, get
 * the runs in order. Only if both end at the same time do they belong to each other: else the
 * language is in the stack's `unpaired`, and user space shows none of the stack's functions of it.
 */
#ifndef STACKTALLY_LANGUAGES_INTERPRETER_BPF_H
#define STACKTALLY_LANGUAGES_INTERPRETER_BPF_H

#include "bpf/hints.h"
#include "bpf/interpreter_wire.h"
#include "bpf/return_probe.bpf.h"
#include "bpf/scratch.bpf.h"
#include "bpf/unwind_ask.bpf.h"
#include "bpf/unwind_step.bpf.h"
#include "languages/hooks.bpf.h"
#include "languages/interp_frames.bpf.h"
#include "languages/interp_run.bpf.h"
#include "languages/interp_turns.bpf.h"
#include "languages/left_frame.bpf.h"

/* The frame that stands for functions that are not known. */
static __always_inline __u64 reason_frame(const struct interpreter_walk *interp, __u32 reason)
{
	return WIRE_FRAME_SCRIPT | (__u64)interp->language << WIRE_FRAME_LANGUAGE_SHIFT | reason;
}

/*
 * Prepares the merge for the slot's walk, whose frames go to frames[first...]: finds the state,
 * stages the first run.
 */
__noinline int interp_begin(__u32 number, __u32 first)
{
	struct scratch *slot = seldom_slot(number);
	const struct wire_interpreter *interpreter;
	struct interpreter_walk *interp;
	__u32 key;

	if (!slot)
		return 0;
	frames_begin(slot, first);
	/* As a walk before this one has ended does not count: that may have begun in [uprobes]. */
	slot->stack.unpaired = 0;
	interp = &slot->interp;
	if (!interp->repeats)
		slot->begun = slot->walk;
	interp->language = LANGUAGE_NONE;
	interp->may_lock = may_lock(number);
	interp->anchor = 0;
	interp->next = 0;
	interp->n = 0;
	interp->n_native = 0;
	interp->run_reason = WIRE_SCRIPT_KNOWN;
	interp->evaluator_size = 0;
	interp->generated_size = 0;
	interp->watched_size = has_several(slot) ? ~0ull : 0;
	interp->last_name = 0;
	interp->last_file = 0;
	interp->ordered = 0;
	interp->missing = 0;
	key = slot->interpreter;
	interpreter = bpf_map_lookup_elem(&interpreters, &key);
	if (!interpreter || interpreter->language >= N_LANGUAGES ||
	    !walks_language(interpreter->language))
		return 0;
	interp->language = interpreter->language;
	interp->number = key;
	interp->bias = slot->interpreter_bias;
	interp->evaluator = interpreter->evaluator + interp->bias;
	interp->evaluator_size = interpreter->evaluator_end - interpreter->evaluator;
	if (!has_several(slot) && !has_frames(interp))
		interp->watched_size = interp->evaluator_size;
	interp->seed = config.seed[1] ^ (slot->stack.image >> 32) ^ (__u64)slot->walk.tgid << 32 ^
		       (__u64)interp->language << 56;
	interp->reason = interpreter->refused;
	slot->stack.flags |= WIRE_STACK_PROGRAM;
	if (interp->reason)
		return 0;
	interp->reason = WIRE_SCRIPT_UNMATCHED;
	interp->all = interpreter->all;
	interp->walk++;
	interp->window.from = 0;
	interp->window.last = 0;
	if (language_find_state(slot, number))
		language_run(number);
	return 0;
}

/* Makes the staged run what stands in the stack: a frame that says why, if it is not known. */
static __always_inline __u64 interp_settle_run(struct scratch *slot, bool *ret_keep)
{
	struct interpreter_walk *interp = &slot->interp;

	*ret_keep = config_has(WIRE_NATIVE) || language_keeps_frame(slot);
	if (!interp->run_reason && (interp->n || language_allows_empty(slot)))
		return interp->n;
	slot->frames[STAGED_AT] =
		reason_frame(interp, interp->run_reason ? interp->run_reason : WIRE_SCRIPT_BETWEEN);
	*ret_keep = true;
	return 1;
}

/* Puts the staged run in place of the last frame, or beside it. */
static __always_inline void interp_place_run(struct scratch *slot)
{
	bool keep;
	__u64 n = interp_settle_run(slot, &keep);

	frames_replace_by_staged(slot, n, keep);
}

/* Puts a frame that says why before the last one, an evaluator's. */
static __always_inline void interp_mark(struct scratch *slot)
{
	const struct interpreter_walk *interp = &slot->interp;
	__u32 reason = interp->reason;

	/* The innermost frame belongs to the state that was found, so its run is not linked. */
	if (!interp->n_native && !interp->ordered && reason == WIRE_SCRIPT_UNMATCHED)
		reason = WIRE_SCRIPT_BETWEEN;
	frames_insert(slot, reason_frame(interp, reason));
}

/* What is to be done after the merge: the staged run was used up, if only to be left out; ... */
#define INTERP_RUN_PLACED (1u << 16)
/* ... or the last frame may be that of a function. */
#define PROGRAM_IS_FUNCTION (1u << 17)

/*
 * Where there are no anchors: puts the next run in place of the last frame, if that is the
 * evaluator's, `left` which it is. Returns what interp_merge() does.
 */
static __always_inline __u32 interp_place_next(struct scratch *slot, const struct left_frame *left)
{
	struct interpreter_walk *interp = &slot->interp;
	enum evaluated evaluated;

	if (left->into >= interp->evaluator_size)
		return language_sees(slot, left) ? INTERP_RUN_PLACED : 0;
	evaluated = language_evaluates(slot);
	if (evaluated == EVALUATED_BEFORE) {
		if (!config_has(WIRE_NATIVE))
			frames_drop(slot);
		return 0;
	}
	if (evaluated == EVALUATED_BETWEEN) {
		interp->reason = WIRE_SCRIPT_BETWEEN;
		interp_mark(slot);
		interp->reason = WIRE_SCRIPT_UNMATCHED;
		return 0;
	}
	if (interp->anchor) {
		interp_place_run(slot);
		return INTERP_RUN_PLACED;
	}
	interp->missing++;
	interp_mark(slot);
	return 0;
}

/*
 * Whether the step was from generated code, or from code of a file that is known to keep frame
 * pointers without saying so: V8's builtins are, wherever and how often they are mapped.
 */
static __always_inline bool in_framed_code(const struct unwind_walk *walk)
{
	return walk->callee_owner == UNWIND_GENERATED || walk->by_chain;
}

/*
 * Where functions have native frames of their own: whether the last frame may be one of those. If
 * functions are not known, the first such frame gets one that says why.
 */
static __always_inline __u32 interp_note_frame(struct scratch *slot, const struct left_frame *left)
{
	struct interpreter_walk *interp = &slot->interp;

	if (!in_framed_code(&slot->walk))
		return 0;
	if (interp->reason != WIRE_SCRIPT_UNMATCHED) {
		if (!interp->missing++)
			interp_mark(slot);
		return 0;
	}
	return language_sees_function(slot, left) ? PROGRAM_IS_FUNCTION : 0;
}

/* Whether the staged run's anchor is in the frame. */
static __always_inline bool interp_has_anchor(const struct scratch *slot,
					      const struct left_frame *left)
{
	__u64 anchor = slot->interp.anchor, cfa = slot->walk.registers[UNWIND_SP];

	return anchor && anchor - left->sp < cfa - left->sp;
}

/* Whether nothing stands in place of the frame, nor beside it. */
static __always_inline bool interp_is_plain(const struct scratch *slot,
					    const struct left_frame *left)
{
	const struct interpreter_walk *interp = &slot->interp;

	if (UNLIKELY(left->into < interp->watched_size))
		return false;
	if (has_frames(interp))
		return !in_framed_code(&slot->walk);
	if (UNLIKELY(slot->walk.callee_owner == UNWIND_GENERATED) && may_leave_generated(interp))
		return false;
	if (UNLIKELY(interp->ordered))
		return !language_watches(slot);
	return !interp_has_anchor(slot, left);
}

/* After a step that ended with `end`: whether it was, or should have been, one from generated code.
 */
static __always_inline bool program_was_generated(const struct scratch *slot, __u32 end)
{
	return end ? end == WIRE_END_JIT : slot->walk.callee_owner == UNWIND_GENERATED;
}

/*
 * Puts what belongs there in place of the last frame, or beside it, after the step from it, which
 * ended with `end`. Returns INTERP_RUN_PLACED, PROGRAM_IS_FUNCTION or 0.
 */
static __always_inline __u32 interp_merge(struct scratch *slot, __u32 number,
					  const struct left_frame *left, __u32 end)
{
	struct interpreter_walk *interp = &slot->interp;

	interp->in_evaluator = left->into < interp->evaluator_size;
	if (has_frames(interp))
		return end && !left->own ? 0 : interp_note_frame(slot, left);
	if (UNLIKELY(interp->ordered))
		return interp_place_next(slot, left);
	if (!end && interp_has_anchor(slot, left)) {
		language_arrives(number);
		interp_place_run(slot);
		return INTERP_RUN_PLACED;
	}
	if (interp->in_evaluator)
		interp_mark(slot);
	return 0;
}

/*
 * Goes on from the generated code that the walk has left, or tried to leave, as the language says.
 * Returns whether it does. A global function, for the sake of its caller's stack.
 */
__noinline int leave_generated(__u32 number, __u64 sp, __u64 fp)
{
	struct scratch *slot = seldom_slot(number);
	const struct left_frame left = { .sp = sp, .fp = fp };

	return slot && language_leaves_generated(slot, &left);
}

/*
 * Adds frames, from the one that the walk is at on, and takes the steps to their callers; not if a
 * mapping is not known. Ends with the first frame that functions of the program stand in place of,
 * or after WALK_STEPS. Returns the enum wire_end, and INTERP_RUN_PLACED or PROGRAM_IS_FUNCTION.
 */
__noinline int interp_frames(__u32 number)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	struct interpreter_walk *interp;
	struct left_frame left;
	__u32 end;

	if (!slot)
		return WIRE_END_STALE;
	interp = &slot->interp;
	if (UNLIKELY(has_several(slot)))
		interp_turn_before(number);
	for (__u32 i = 0; i < WALK_STEPS; i++) {
		left.into = slot->walk.pc - interp->evaluator;
		left.sp = slot->walk.registers[UNWIND_SP];
		left.fp = slot->walk.registers[UNWIND_FP];
		if (!frames_add_native(slot))
			return WIRE_END_DEPTH;
		end = WIRE_END_NONE;
		left.own = language_step(slot, number, &end);
		if (!left.own && !step_if_usual(slot, number))
			end = step_once(number);
		if (UNLIKELY(asking_helps(end)))
			return end; /* it is walked again, once that was asked */
		OPAQUE(end);
		if (UNLIKELY(end || !interp_is_plain(slot, &left))) {
			if (UNLIKELY(has_several(slot)))
				left.into = interp_turn_after(number, left.into, left.sp,
							      end | (left.own ? TURN_OWN : 0));
			if (program_was_generated(slot, end) &&
			    leave_generated(number, left.sp, left.fp))
				end = WIRE_END_NONE;
			end |= interp_merge(slot, number, &left, end);
			interp->n_native++;
			return end;
		}
		interp->n_native++;
	}
	return WIRE_END_NONE;
}

/* Calls of interp_frames() at a time: so many that the programs have few rounds of them. */
#define INTERP_CALLS 32

/*
 * Adds frames, with the program's functions in place of their evaluators' frames; so there may be
 * more than WALK_STEPS for each call. Returns the enum wire_end.
 */
__noinline int walk_some_interp(__u32 number)
{
	__u32 end = WIRE_END_NONE;

	for (__u32 i = 0; i < INTERP_CALLS && !end; i++) {
		__u32 some = interp_frames(number);

		/* Not called by interp_frames(): calls nest eight times at most. */
		if (some & INTERP_RUN_PLACED)
			language_run(number);
		else if (some & PROGRAM_IS_FUNCTION)
			language_place(number);
		end = some & 0xff;
		OPAQUE(end);
	}
	return end;
}

static __always_inline bool is_whole(__u32 end)
{
	return end == WIRE_END_COMPLETE || end == WIRE_END_ENTRY || end == WIRE_END_FIBER;
}

/*
 * Begins a walk anew whose mappings were replaced before its end: user space, which finishes
 * others, would not know which native frames the functions of an interpreter without anchors belong
 * to.
 */
__noinline int interp_renew(__u32 number)
{
	struct scratch *slot = seldom_slot(number);

	if (!slot)
		return false;
	slot->walk = slot->begun;
	slot->walk.layout = layout_of(slot, slot->walk.tgid);
	slot->window.size = 0;
	slot->interp.repeats = 1;
	return true;
}

/* Whether a walk that is over is to be done again; then it is where it began. */
static __always_inline bool interp_again(struct scratch *slot, __u32 number, __u32 end)
{
	bool again = false;

	if (end == WIRE_END_STALE)
		return interp_renew(number);
	if (!is_whole(end))
		return false;
	for (__u32 i = 0; i < WIRE_PROCESS_INTERPRETERS && interp_turn_to(slot, number, i); i++) {
		if (!language_again(slot, number))
			continue;
		slot->interp.repeats = 1;
		again = true;
		if (UNLIKELY(has_several(slot)))
			interp_keep_turn(number);
	}
	return again;
}

/* Whether the walk has come to where a fiber began. */
static __always_inline bool interp_ends_fiber(struct scratch *slot, __u32 number)
{
	for (__u32 i = 0; i < WIRE_PROCESS_INTERPRETERS && interp_turn_to(slot, number, i); i++)
		if (language_ends_fiber(slot))
			return true;
	return false;
}

/*
 * Notes whether the walk and the interpreters' frames ended at the same time; the enum wire_end of
 * the whole.
 */
static __always_inline __u32 interp_end(struct scratch *slot, __u32 number, __u32 end)
{
	const struct interpreter_walk *interp = &slot->interp;

	if (end == WIRE_END_PC && !slot->walk.pc && interp_ends_fiber(slot, number))
		end = WIRE_END_FIBER;
	for (__u32 i = 0; i < WIRE_PROCESS_INTERPRETERS && interp_turn_to(slot, number, i); i++)
		if (interp->ordered && !(language_is_paired(slot) && is_whole(end)))
			slot->stack.unpaired |= WIRE_UNPAIRED(interp->language);
	return end;
}

/* Asks the kernel if a walk ended for lack of a mapping. 1: the last frame can be walked now. */
__noinline int find_frame_asking(__u32 number, __u32 end)
{
	if (take_pending_return(number, end))
		return 1;
	return asking_helps(end) && ask_kernel(number);
}

/*
 * Does what walk_frames() of bpf/unwind_user.bpf.h does. Its rounds are not in functions of their
 * own: calls nest eight times at most.
 */
static __always_inline __u32 walk_interp(struct scratch *slot, __u32 number, __u32 first,
					 bool may_ask)
{
	__u32 rounds = (config.user_depth + INTERP_CALLS - 1) / INTERP_CALLS;
	__u32 end = WIRE_END_NONE, begun = 0;

	if (UNLIKELY(has_several(slot))) {
		while (begun < WIRE_PROCESS_INTERPRETERS && interp_begin_turn(number, begun)) {
			interp_begin(number, first);
			interp_keep_turn(number);
			begun++;
		}
		/* The process has changed since then; without any it is walked as one without. */
		slot->n_interpreters = begun;
		if (!begun)
			slot->interpreter = 0;
	}
	if (!begun)
		interp_begin(number, first);
	for (__u32 i = 0; !end && i < rounds + (may_ask ? WALK_QUESTIONS : 0); i++) {
		__u32 again;

		end = walk_some_interp(number);
		again = (may_ask ? find_frame_asking(number, end)
				 : take_pending_return(number, end)) &
			1;
		/* Without branches, which the verifier would follow in every round. */
		OPAQUE(again);
		slot->walk_n -= again;
		end *= 1 - again;
		OPAQUE(end);
	}
	return end ? end : WIRE_END_DEPTH;
}

/* Runs with an unfinished walk, 64: so many at a time, for the verifier's sake. */
#define REST_RUNS   8
#define REST_ROUNDS 8

/* Writes the staged run to frames[at...], `size` words behind the first one; returns its words. */
__noinline int interp_append_run(__u32 number, __u32 first, __u32 size)
{
	struct scratch *slot = seldom_slot(number);
	__u64 at = first + size, n;
	bool keep;

	if (!slot || !slot->interp.anchor || slot->interp.ordered)
		return 0;
	slot->interp.in_evaluator = 1; /* in most cases */
	language_arrives(number);
	n = interp_settle_run(slot, &keep);
	OPAQUE(n);
	OPAQUE(at);
	if (n > WIRE_MAX_DEPTH || size + 2 + n > WIRE_RUNS_WORDS ||
	    at > 2 * WIRE_MAX_DEPTH + WIRE_RUNS_WORDS)
		return 0;
	slot->frames[at] = slot->interp.anchor;
	slot->frames[at + 1] = n | (keep ? WIRE_RUN_KEEP : 0) |
			       (has_several(slot) ? (__u64)slot->turn << WIRE_RUN_OF_SHIFT : 0);
	bpf_probe_read_kernel(&slot->frames[at + 2], n * sizeof(__u64), &slot->frames[STAGED_AT]);
	return 2 + n;
}

/*
 * Writes some of the runs that the walk has not come to where they belong behind a stack of `words`
 * frames, `size` words behind the first one; returns how many words there are then.
 */
__noinline int interp_append_runs(__u32 number, __u32 words, __u32 size)
{
	__u32 first = words + sizeof(struct wire_rest) / sizeof(__u64);

	for (__u32 i = 0; i < REST_RUNS; i++) {
		__u32 more = interp_append_run(number, first, size);

		if (!more)
			break;
		language_run(number);
		size += more;
		OPAQUE(size);
	}
	return size;
}

/* ---- what bpf/interpreter_hooks.bpf.h says ---- */

#define WALKS_INTERPRETERS 1

static __always_inline bool interpreter_is_there(const struct scratch *slot)
{
	return slot->interpreter;
}

static __always_inline __u32 interpreter_walk(struct scratch *slot, __u32 number, __u32 first,
					      bool may_ask, __u32 *ret_end)
{
	__u32 end;

	slot->interp.repeats = 0;
	end = walk_interp(slot, number, first, may_ask);
	if (interp_again(slot, number, end))
		end = walk_interp(slot, number, first, may_ask);
	*ret_end = interp_end(slot, number, end);
	return slot->walk_n;
}

static __always_inline __u32 interpreter_rest(struct scratch *slot, __u32 number)
{
	__u32 words = (__u32)slot->stack.n_kernel + slot->stack.n_user, size = 0;

	if (!by_tables() || !(slot->stack.flags & WIRE_STACK_PROGRAM))
		return 0;
	for (__u32 i = 0; i < WIRE_PROCESS_INTERPRETERS && interp_turn_to(slot, number, i); i++) {
		/* User space has no code, and does not guess by frame pointers. */
		if (is_of(&slot->interp, LANGUAGE_JAVA))
			slot->walk.may_chain = 0;
		for (__u32 j = 0; j < REST_ROUNDS; j++) {
			size = interp_append_runs(number, words, size);
			OPAQUE(size);
		}
	}
	return size;
}

#endif
