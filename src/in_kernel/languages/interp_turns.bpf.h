/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Processes with several interpreters: a virtual machine that embeds Python, a web server with PHP
 * and Perl. Each has its own state, runs and staged run. One has its turn, and is what the slot's
 * struct interpreter_walk is of; the others are kept beside it. Each native frame is left to the
 * one that it belongs to, by its evaluator, its anchor or its generated code: so the functions of
 * all of them stand in one stack.
 */
#ifndef STACKTALLY_LANGUAGES_INTERP_TURNS_BPF_H
#define STACKTALLY_LANGUAGES_INTERP_TURNS_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/hints.h"
#include "bpf/scratch.bpf.h"
#include "bpf/unwind_tables.bpf.h"
#include "languages/hooks.bpf.h"

static __always_inline bool has_several(const struct scratch *slot)
{
	return slot->n_interpreters > 1;
}

static __always_inline struct kept_interpreter *kept_at(struct scratch *slot, __u64 which)
{
	OPAQUE(which);
	return &slot->kept[which % WIRE_PROCESS_INTERPRETERS];
}

/* Notes which frames are those of the interpreter whose turn it is. */
static __always_inline void interp_note_claims(struct scratch *slot, struct kept_interpreter *kept)
{
	const struct interpreter_walk *interp = &slot->interp;

	kept->anchor = interp->ordered ? 0 : interp->anchor;
	kept->evaluator = interp->evaluator;
	kept->evaluator_size = interp->evaluator_size;
	kept->generated = interp->generated;
	kept->generated_size = interp->generated_size;
	kept->is_generated = has_frames(interp) || may_leave_generated(interp);
	kept->watches = interp->ordered && language_watches(slot);
}

/* Keeps the interpreter whose turn it is. */
static __always_inline void interp_keep(struct scratch *slot)
{
	struct kept_interpreter *kept = kept_at(slot, slot->turn);
	const struct interpreter_walk *interp = &slot->interp;
	__u64 size = interp->n * sizeof(__u64);

	interp_note_claims(slot, kept);
	bpf_probe_read_kernel(kept->walk, sizeof(kept->walk), interp);
#define KEEP_WALK(ID, id, ...)                                                                     \
	if (is_of(interp, LANGUAGE_##ID))                                                          \
		bpf_probe_read_kernel(&kept->id##_walk, sizeof(kept->id##_walk),                   \
				      &interp->id##_walk);
	EACH_LANGUAGE(KEEP_WALK)
	OPAQUE(size);
	if (size <= sizeof(kept->staged))
		bpf_probe_read_kernel(kept->staged, size, &slot->frames[STAGED_AT]);
}

/* Makes it the turn of a kept one. */
static __always_inline void interp_take(struct scratch *slot, __u32 which)
{
	const struct kept_interpreter *kept = kept_at(slot, which);
	struct interpreter_walk *interp = &slot->interp;
	__u64 size;

	slot->turn = which;
	bpf_probe_read_kernel(interp, sizeof(kept->walk), kept->walk);
	/* It has the frames of the one before. */
	interp->window.from = 0;
	interp->window.last = 0;
#define TAKE_WALK(ID, id, ...)                                                                     \
	if (is_of(interp, LANGUAGE_##ID))                                                          \
		bpf_probe_read_kernel(&interp->id##_walk, sizeof(kept->id##_walk),                 \
				      &kept->id##_walk);
	EACH_LANGUAGE(TAKE_WALK)
	size = interp->n * sizeof(__u64);
	OPAQUE(size);
	if (size <= sizeof(kept->staged))
		bpf_probe_read_kernel(&slot->frames[STAGED_AT], size, kept->staged);
}

static __always_inline void interp_exchange(struct scratch *slot, __u32 which)
{
	if (which == slot->turn)
		return;
	interp_keep(slot);
	interp_take(slot, which);
}

/*
 * Before a walk: makes it the turn of one of the process's interpreters. What its copy holds from
 * an earlier walk may be of another process: interp_begin() must follow. False: the process has
 * fewer.
 */
__noinline int interp_begin_turn(__u32 number, __u32 which)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	const struct wire_process *process;
	__u64 at = which;

	if (!slot)
		return false;
	process = look_up_process(slot->walk.tgid);
	if (!process || which >= process->n_interpreters || which >= WIRE_PROCESS_INTERPRETERS)
		return false;
	interp_take(slot, which);
	OPAQUE(at);
	at %= WIRE_PROCESS_INTERPRETERS;
	slot->interpreter = process->interpreters[at].number;
	slot->interpreter_bias = process->interpreters[at].bias;
	return true;
}

/* Keeps what has begun. */
__noinline int interp_keep_turn(__u32 number)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);

	if (slot)
		interp_keep(slot);
	return 0;
}

/* As interp_turn_to(). A global function, which the verifier checks once. */
__noinline int interp_turn_of_several(__u32 number, __u32 which)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);

	if (!slot || which >= slot->n_interpreters)
		return false;
	interp_exchange(slot, which);
	return true;
}

/* Makes it the turn of one of the process's interpreters. False: there are fewer of them. */
static __always_inline bool interp_turn_to(const struct scratch *slot, __u32 number, __u32 which)
{
	if (UNLIKELY(has_several(slot)))
		return interp_turn_of_several(number, which);
	return which == 0;
}

/* Before the step from a frame: makes it the turn of the one that takes it, if that has a step. */
__noinline int interp_turn_before(__u32 number)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	__u64 pc;

	if (!slot)
		return 0;
	pc = slot->walk.pc;
	if (pc - slot->interp.generated < slot->interp.generated_size)
		return 0;
	for (__u32 i = 0; i < WIRE_PROCESS_INTERPRETERS && i < slot->n_interpreters; i++)
		if (pc - slot->kept[i].generated < slot->kept[i].generated_size) {
			interp_exchange(slot, i);
			break;
		}
	return 0;
}

/* How certainly a frame is an interpreter's, which was left by a step that ended with `end`. */
static __always_inline __u32 interp_claims(const struct kept_interpreter *kept,
					   const struct unwind_walk *walk, __u64 pc, __u64 sp,
					   __u32 end)
{
	bool is_generated = end ? end == WIRE_END_JIT
				: walk->callee_owner == UNWIND_GENERATED || walk->by_chain;

	if (pc - kept->evaluator < kept->evaluator_size ||
	    (!end && kept->anchor && kept->anchor - sp < walk->registers[UNWIND_SP] - sp))
		return 3;
	if (is_generated && kept->is_generated &&
	    (!kept->generated_size || pc - kept->generated < kept->generated_size))
		return 2;
	return kept->watches;
}

#define TURN_OWN (1u << 8)

/*
 * After the step from a frame, which ended with the enum wire_end in `how`: makes it the turn of
 * the one that the frame belongs to; with TURN_OWN it has taken the step itself. `into` is where
 * the frame's code is in the evaluator, before and, returned, after.
 */
__noinline __u64 interp_turn_after(__u32 number, __u64 into, __u64 sp, __u32 how)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	__u32 which, most;
	__u64 pc;

	if (!slot || how & TURN_OWN)
		return into;
	pc = into + slot->interp.evaluator;
	which = slot->turn;
	interp_note_claims(slot, kept_at(slot, which));
	most = interp_claims(kept_at(slot, which), &slot->walk, pc, sp, how);
	for (__u32 i = 0; i < WIRE_PROCESS_INTERPRETERS && i < slot->n_interpreters; i++) {
		__u32 claims = interp_claims(&slot->kept[i], &slot->walk, pc, sp, how);

		if (claims <= most)
			continue;
		most = claims;
		which = i;
	}
	interp_exchange(slot, which);
	return pc - slot->interp.evaluator;
}

#endif
