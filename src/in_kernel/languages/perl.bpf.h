/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Calls of Perl's evaluator and runs of contexts: whether each has the other, and the ones to leave
 * out when the innermost has none. See languages/perl_contexts.bpf.h.
 */
#ifndef STACKTALLY_LANGUAGES_PERL_BPF_H
#define STACKTALLY_LANGUAGES_PERL_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/interpreter_wire.h"
#include "bpf/scratch.bpf.h"
#include "bpf/window.bpf.h"
#include "languages/interp_run.bpf.h"
#include "languages/left_frame.bpf.h"
#include "languages/perl_contexts.bpf.h"

/*
 * Native frames of an eval between two of the evaluator: the one that has the handler, and that of
 * the operation, which compilers leave out where it calls the other one last.
 */
#define PERL_CATCHING_FRAMES 2

#define perl_has_watches 1
static __always_inline bool perl_watches(const struct scratch *slot)
{
	(void)slot;
	return true;
}

/* Notes a native frame that is not the evaluator's, and what it has on the C stack. */
#define perl_has_sees 1
static __always_inline bool perl_sees(struct scratch *slot, const struct left_frame *left)
{
	struct interpreter_walk *interp = &slot->interp;
	__u64 cfa = slot->walk.registers[UNWIND_SP], previous;
	__u64 pc = left->into + interp->evaluator, sp = left->sp;
	struct perl_walk *walk = &interp->perl_walk;

	if (pc - interp->bias - interp->perl.main < interp->perl.main_size)
		walk->main_is_seen = 1;
	if (walk->is_after_evaluator)
		walk->catching = walk->env - sp < cfa - sp ? PERL_CATCHING_FRAMES : 0;
	else if (walk->catching)
		walk->catching--;
	walk->is_after_evaluator = 0;
	if (walk->env >= cfa)
		return false;
	previous = walk->env + interp->perl.env_previous;
	if (!window_peek(slot, &walk->env, previous) && !read_word(&walk->env, previous))
		walk->env = 0;
	return false;
}

/* Whether the evaluator's frame that the walk is at belongs to the same call as the one before. */
static __always_inline bool perl_is_same_call(struct interpreter_walk *interp)
{
	bool same = interp->perl_walk.catching;

	interp->perl_walk.catching = 0;
	interp->perl_walk.is_after_evaluator = 1;
	return same;
}

/* Whether the evaluator's frame that the walk is at gets no run. */
static __always_inline bool perl_leaves_out(struct interpreter_walk *interp)
{
	bool out = interp->perl_walk.again == PERL_WITHOUT_CALL;

	if (out)
		interp->perl_walk.again = PERL_JUDGED;
	else
		interp->perl_walk.main_placed |= interp->perl_walk.is_main;
	return out;
}

#define perl_has_evaluates 1
static __always_inline enum evaluated perl_evaluates(struct scratch *slot)
{
	if (perl_is_same_call(&slot->interp))
		return EVALUATED_BEFORE;
	return perl_leaves_out(&slot->interp) ? EVALUATED_BETWEEN : EVALUATED_RUN;
}

#define perl_has_allows_empty 1
static __always_inline bool perl_allows_empty(const struct scratch *slot)
{
	(void)slot;
	return true;
}

/* Whether the staged run has nothing but a main program, which may not be running any more. */
static __always_inline bool perl_is_main_only(const struct interpreter_walk *interp)
{
	return interp->perl_walk.is_main && interp->n == 1 && !interp->run_reason;
}

/* Whether each call of the evaluator has got its run, and each run its call. */
#define perl_has_is_paired 1
static __always_inline bool perl_is_paired(const struct scratch *slot)
{
	const struct interpreter_walk *interp = &slot->interp;
	const struct perl_walk *walk = &interp->perl_walk;

	if (interp->missing)
		return false;
	if (walk->main_is_seen)
		return !interp->anchor;
	return !walk->main_placed && (!interp->anchor || perl_is_main_only(interp));
}

/* Whether an address is in the part of the C stack that was walked. */
static __always_inline bool perl_is_on_stack(const struct scratch *slot, __u64 address)
{
	__u64 first = slot->interp.perl_walk.first_sp;

	return address - first < slot->walk.registers[UNWIND_SP] - first;
}

/*
 * At the end of a complete walk: one of enum perl_again. One run without a call, the innermost, is
 * certain if no operation is at work: none, or the one that C code makes for a call. One call
 * without a run, the innermost, is certain if the sub has returned, or if the evaluator computes a
 * constant for the compiler, whose line is then on the C stack.
 */
__noinline int perl_judge(__u32 number)
{
	struct scratch *slot = slot_of(LANGUAGE_PERL, number);
	struct interpreter_walk *interp;
	struct perl_walk *walk;
	__u64 op = 0, curcop = 0;
	__u16 kind = 0;

	if (!slot)
		return PERL_JUDGED;
	interp = &slot->interp;
	walk = &interp->perl_walk;
	if (walk->again || interp->reason != WIRE_SCRIPT_UNMATCHED || perl_is_paired(slot) ||
	    !read_word(&op, walk->state + interp->perl.op) ||
	    !read_word(&curcop, walk->state + interp->perl.curcop))
		return PERL_JUDGED;
	if (!interp->anchor) {
		if (walk->main_placed == 0 || interp->missing != walk->main_is_seen)
			return PERL_JUDGED;
		if (op)
			bpf_probe_read_user(&kind, sizeof(kind),
					    (const void *)(op + interp->perl.op_type));
		return !op || (kind & 0x1ff) == interp->perl.op_leavesub ||
				       perl_is_on_stack(slot, curcop)
			       ? PERL_WITHOUT_CALL
			       : PERL_JUDGED;
	}
	if (interp->missing || (op && !perl_is_on_stack(slot, op)))
		return PERL_JUDGED;
	if (!walk->main_is_seen) {
		if (perl_is_main_only(interp))
			return PERL_JUDGED;
		perl_run(number);
		return perl_is_main_only(interp) ? PERL_WITHOUT_RUN : PERL_JUDGED;
	}
	return walk->is_main && !interp->run_reason ? PERL_WITHOUT_RUN : PERL_JUDGED;
}

#define perl_has_again 1
static __always_inline bool perl_again(struct scratch *slot, __u32 number)
{
	struct perl_walk *walk = &slot->interp.perl_walk;

	walk->again = perl_judge(number);
	if (walk->again == PERL_JUDGED)
		return false;
	slot->walk = walk->native;
	return true;
}

#endif
