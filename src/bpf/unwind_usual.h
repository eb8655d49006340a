/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The step that nearly all frames take: their rule is cached, the CFA is at a distance from the
 * stack or the frame pointer, the return address just below it, and both it and the saved frame
 * pointer have been copied already. It does what unwind_step() does, in two thirds of the time: it
 * is short enough to be inlined in a loop, and where processors are protected from speculation,
 * each return from a call is slow. Included after
 *
 *	UNWIND_CONTEXT, UNWIND_PASS, UNWIND_INLINE	see bpf/unwind_step.h
 *	bool UNWIND_PEEK(__u64 *to, __u64 address)	reads a word of the walked stack, if that
 *							takes no call
 */
#ifndef STACKTALLY_BPF_UNWIND_USUAL_H
#define STACKTALLY_BPF_UNWIND_USUAL_H

#include <stdbool.h>

#include "bpf/hints.h"
#include "bpf/unwind_walk.h"
#include "bpf/unwind_wire.h"

/* Takes the step, or returns false and leaves the walk as it is. `cached` may be of any address. */
UNWIND_INLINE bool unwind_usual(struct unwind_walk *walk, const struct unwind_cached_rule *cached,
				__u64 address UNWIND_CONTEXT)
{
	const struct wire_rule *rule = &cached->rule;
	__u64 cfa, pc, fp;

	if (UNLIKELY(cached->layout == 0 || cached->layout != walk->layout ||
		     cached->owner == UNWIND_GENERATED || !unwind_in_span(cached->span, address)))
		return false;
	if (UNLIKELY(rule->fp > WIRE_FP_CFA || rule->ra & ~WIRE_RULE_RBX_SAVED))
		return false;
	if (rule->cfa == WIRE_CFA_SP)
		cfa = walk->registers[UNWIND_SP];
	else if (LIKELY(rule->cfa == WIRE_CFA_FP && UNWIND_KNOWS(walk, UNWIND_FP)))
		cfa = walk->registers[UNWIND_FP];
	else
		return false;
	cfa += (__u64)(__s64)rule->cfa_offset;
	if (UNLIKELY(cfa <= walk->registers[UNWIND_SP] || cfa & 7))
		return false;
	if (UNLIKELY(!UNWIND_PEEK(&pc, cfa - 8) || pc < UNWIND_MIN_PC || pc >= UNWIND_MAX_USER))
		return false;
	fp = walk->registers[UNWIND_FP];
	if (rule->fp == WIRE_FP_CFA &&
	    UNLIKELY(!UNWIND_PEEK(&fp, cfa + (__u64)(__s64)rule->fp_offset)))
		return false;
	/* A callee of another file may have changed what the calling convention lets it change. */
	if (UNLIKELY(walk->callee_owner && walk->callee_owner != cached->owner))
		walk->known &= UNWIND_BIT(UNWIND_FP) | UNWIND_BIT(UNWIND_RBX);
	if (rule->fp == WIRE_FP_CFA)
		walk->known |= UNWIND_BIT(UNWIND_FP);
	if (rule->ra)
		walk->rbx_at = cfa + (__u64)(__s64)rule->extra;
	walk->registers[UNWIND_FP] = fp;
	walk->known = (walk->known & ~UNWIND_UNFOLLOWED) | UNWIND_BIT(UNWIND_SP);
	walk->registers[UNWIND_SP] = cfa;
	walk->pc = pc;
	walk->exact = 0;
	walk->by_chain = 0;
	walk->callee_owner = cached->owner;
	return true;
}

_Static_assert(WIRE_RA_CFA == 0, "a rule without flags has its return address below the CFA");
_Static_assert(WIRE_FP_SAME == 0 && WIRE_FP_CFA == 1, "the usual rules come first");

#endif
