/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * User stacks by unwinding tables: registers, then steps (bpf/unwind_step.bpf.h) until the walk
 * ends.
 */
#ifndef STACKTALLY_BPF_UNWIND_USER_BPF_H
#define STACKTALLY_BPF_UNWIND_USER_BPF_H

#include "bpf/interpreter_hooks.bpf.h"
#include "bpf/return_probe.bpf.h"
#include "bpf/scratch.bpf.h"
#include "bpf/unwind_ask.bpf.h"
#include "bpf/unwind_cache.bpf.h"
#include "bpf/unwind_step.bpf.h"
#include "bpf/user_frame.bpf.h"
#include "bpf/user_registers.bpf.h"

/*
 * Writes up to USUAL_STEPS more frames to frames[first...], for as long as their steps are usual
 * ones; `done` are there already. Returns how many; the frame behind them may be written, too. A
 * global function: the verifier checks it once.
 */
__noinline int walk_usual(__u32 number, __u32 first, __u32 done)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	struct unwind_usual usual;
	__u64 address, zero, at = first;
	__u64 *frames;
	__u32 n, most = config.user_depth - done;

	OPAQUE(at);
	if (!slot || done >= config.user_depth || !slot->walk.layout || at >= 2 * WIRE_MAX_DEPTH ||
	    !put_frame(slot, at, done))
		return 0;
	frames = &slot->frames[at];
	usual = unwind_usual_begin(&slot->walk);
	address = usual.pc - (1 - slot->walk.exact);
	zero = unknown_zero(slot);
	for (n = 0; n < USUAL_STEPS && n < most; n++) {
		if (!step_usual(slot, &usual, address, zero, number))
			break;
		address = usual.pc - 1;
		frames[n + 1] = usual.pc;
	}
	if (n > 0)
		unwind_usual_end(&slot->walk, &usual);
	return n;
}

/* As walk_usual(), but with any steps. Above 16 bits it returns the enum wire_end. */
__noinline int walk_some(__u32 number, __u32 first, __u32 done)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	__u32 n = 0, end = WIRE_END_NONE;

	if (!slot)
		return WIRE_END_STALE << 16;
	for (__u32 i = 0; i < WALK_STEPS && !end; i++) {
		__u32 usual = walk_usual(number, first + n, done + n);

		n += usual;
		OPAQUE(n);
		if (usual >= USUAL_STEPS)
			continue;
		if (done + n >= config.user_depth || !put_frame(slot, first + n, done + n))
			return n | WIRE_END_DEPTH << 16;
		n++;
		end = step_once(number);
	}
	return n | end << 16;
}

/* As walk_some(); if a mapping is not known, asks the kernel and takes the step to the caller. */
__noinline int walk_some_asking(__u32 number, __u32 first, __u32 done)
{
	__u32 some = walk_some(number, first, done), end = some >> 16;

	if (asking_helps(end) && ask_kernel(number))
		return (some & 0xffff) | (__u32)step_once(number) << 16;
	return some;
}

/*
 * Rounds of walk_some() or, if `may_ask`, of walk_some_asking(), which may only ask; the last one
 * ends the walk.
 */
static __always_inline __u32 walk_rounds(__u32 number, __u32 first, __u32 done, bool may_ask)
{
	__u32 end = WIRE_END_NONE, n = 0;

	for (__u32 i = 0; !end && i < WALK_ROUNDS + (may_ask ? WALK_QUESTIONS : 0); i++) {
		__u32 some = may_ask ? walk_some_asking(number, first + n, done + n)
				     : walk_some(number, first + n, done + n);
		__u32 again;

		n += some & 0xffff;
		end = some >> 16;
		if (UNLIKELY(may_be_trampoline(end))) {
			/* Without branches, which the verifier would follow in every round. */
			again = take_pending_return(number, end) & 1;
			OPAQUE(again);
			n -= again;
			end *= 1 - again;
		}
		OPAQUE(n);
		OPAQUE(end);
	}
	return n | end << 16;
}

/* Global functions: the verifier goes through the rounds of each once. */
__noinline int walk_more(__u32 number, __u32 first, __u32 done)
{
	return (int)walk_rounds(number, first, done, false);
}

__noinline int walk_more_asking(__u32 number, __u32 first, __u32 done)
{
	return (int)walk_rounds(number, first, done, true);
}

/* Writes frames to frames[first...] until the walk ends; returns as walk_some() does. */
static __always_inline __u32 walk_until_end(__u32 number, __u32 first, bool may_ask)
{
	__u32 end = WIRE_END_NONE, n = 0;

	/* The verifier knows user_depth, a constant, and goes through no more rounds than needed.
	 */
	for (__u32 i = 0; !end && i < config.user_depth; i += WALK_ROUNDS * WALK_STEPS) {
		__u32 some = may_ask ? walk_more_asking(number, first + n, n)
				     : walk_more(number, first + n, n);

		n += some & 0xffff;
		end = some >> 16;
		OPAQUE(n);
		OPAQUE(end);
	}
	return n | (end ? end : WIRE_END_DEPTH) << 16;
}

__noinline int walk_frames(__u32 number, __u32 first)
{
	return (int)walk_until_end(number, first, false);
}

__noinline int walk_frames_asking(__u32 number, __u32 first)
{
	return (int)walk_until_end(number, first, true);
}

/* Writes frames to frames[first...] until the walk ends; returns how many. */
static __always_inline __u32 walk_all(struct scratch *slot, __u32 number, __u32 first, bool may_ask,
				      __u32 *ret_end)
{
	__u32 some;

	if (UNLIKELY(interpreter_is_there(slot)))
		return interpreter_walk(slot, number, first, may_ask, ret_end);
	some = may_ask ? walk_frames_asking(number, first) : walk_frames(number, first);
	*ret_end = some >> 16;
	return some & 0xffff;
}

/*
 * Notes where the walk begins, if its process has no interpreter that is known. Global functions:
 * so the programs' own stacks stay small.
 */
__noinline int walk_note(__u32 number)
{
	struct scratch *slot = seldom_slot(number);

	if (slot && !take_asked_interpreter(slot) && !slot->interpreter)
		slot->begun = slot->walk;
	return 0;
}

/*
 * Whether a walk has met an interpreter that was not known; then it is where it began, as that has
 * to be known first.
 */
__noinline int walk_restarts(__u32 number)
{
	struct scratch *slot = seldom_slot(number);

	if (!slot || !take_asked_interpreter(slot))
		return false;
	slot->walk = slot->begun;
	slot->window.size = 0;
	slot->questions = WALK_QUESTIONS;
	return true;
}

/* Walks the user stack from where the slot's walk is; returns how many frames there are. */
static __always_inline __u32 walk_stack(struct scratch *slot, __u32 number, __u32 first,
					const struct task_struct *task, bool may_ask,
					__u32 *ret_end)
{
	__u32 n = walk_all(slot, number, first, may_ask, ret_end);

	return n == 1 && *ret_end == WIRE_END_SPECIAL && was_out_of_line(task, &slot->walk)
		       ? walk_all(slot, number, first, may_ask, ret_end)
		       : n;
}

/* The same, again if an interpreter was met that was not known. */
static __always_inline __u32 walk_stack_asking(struct scratch *slot, __u32 number, __u32 first,
					       const struct task_struct *task, __u32 *ret_end)
{
	__u32 n = 0;

	walk_note(number);
	for (__u32 i = 0; i < 3; i++) {
		n = walk_all(slot, number, first, true, ret_end);
		if (n == 1 && *ret_end == WIRE_END_SPECIAL && !i &&
		    was_out_of_line(task, &slot->walk))
			walk_note(number);
		else if (!walk_restarts(number))
			break;
	}
	return n;
}

/* The task is in execve(), and its old stack is unmapped already. */
static __always_inline bool lost_its_stack(const struct task_struct *task,
					   const struct unwind_walk *walk)
{
	__u64 word;

	return bpf_core_field_exists(task->in_execve) &&
	       BPF_CORE_READ_BITFIELD_PROBED(task, in_execve) &&
	       bpf_probe_read_user(&word, sizeof(word), (void *)walk->registers[UNWIND_SP]);
}

enum walk_how {
	WALK_SAMPLED = 1 << 0, /* a clock fired: the processor's caches are probably cold */
	WALK_MAY_ASK = 1 << 1, /* what user space has not heard of is asked of the kernel */
};

/* Walks the user stack into frames[first...] of the slot; sets n_user, end and flags. */
static __always_inline void unwind_user(const struct pt_regs *ctx, bool in_user,
					const struct task_struct *task, struct scratch *slot,
					__u32 number, __u32 first, __u32 how)
{
	struct unwind_walk *walk = &slot->walk;
	bool may_ask = how & WALK_MAY_ASK;
	__u32 end, n = 0;

	slot->stack.n_user = 0;
	walk->layout = 0;
	if (!slot->stack.image) { /* a kernel thread */
		slot->stack.end = WIRE_END_NONE;
		return;
	}
	end = user_registers(ctx, in_user, task, slot);
	if (end) {
		slot->stack.end = end == NO_USER_SIDE ? WIRE_END_NONE : end;
		/* The function that runs has its name even if its callers cannot be found. */
		if (end == WIRE_END_COMPAT && put_frame(slot, first, 0))
			slot->stack.n_user = 1;
		return;
	}
	walk_begin(slot, slot->stack.tgid);
	if (how & WALK_SAMPLED)
		prefetch_walk(slot);
	slot->window.size = 0;
	slot->questions = WALK_QUESTIONS;
	if (config.unwind == WIRE_UNWIND_NONE) {
		n = put_frame(slot, first, 0);
	} else {
		n = WALKS_INTERPRETERS && may_ask
			    ? walk_stack_asking(slot, number, first, task, &end)
			    : walk_stack(slot, number, first, task, may_ask, &end);
	}
	if (n == 1 && end > WIRE_END_DEPTH && lost_its_stack(task, walk)) {
		end = WIRE_END_NONE;
		n = 0;
	}
	slot->stack.n_user = n;
	slot->last_first = first;
	slot->last_n = n;
	slot->last_layout = walk->layout;
	slot->stack.end = end;
	if (walk->assumed)
		slot->stack.flags |= WIRE_STACK_ASSUMED;
}

#endif
