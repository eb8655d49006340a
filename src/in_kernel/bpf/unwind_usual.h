/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The step that nearly all frames take: their rule is cached, the CFA is at a distance from the
 * stack or the frame pointer, the return address just below it, and both it and the saved frame
 * pointer have been copied already. It does what unwind_step() does, in less than two thirds of the
 * time: it is short enough to be inlined in a loop, and where processors are protected from
 * speculation, each return from a call is slow. Included after
 *
 *	UNWIND_CONTEXT, UNWIND_PASS, UNWIND_INLINE	see bpf/unwind_step.h
 *	bool UNWIND_PEEK(__u64 *to, __u64 address)	reads a word of the walked stack, if that
 *							takes no call
 */
#ifndef STACKTALLY_BPF_UNWIND_USUAL_H
#define STACKTALLY_BPF_UNWIND_USUAL_H

#include <stdbool.h>

#include "arch/registers.h"
#include "bpf/hints.h"
#include "bpf/unwind_walk.h"
#include "bpf/unwind_wire.h"

/*
 * What each usual step of a walk needs of the one before. It is a local variable, so that a loop
 * has it in registers.
 */
struct unwind_usual {
	__u64 pc, sp, fp;
};

UNWIND_INLINE struct unwind_usual unwind_usual_begin(const struct unwind_walk *walk)
{
	return (struct unwind_usual){
		.pc = walk->pc,
		.sp = walk->registers[UNWIND_SP],
		.fp = walk->registers[UNWIND_FP],
	};
}

/* Puts the walk where one or more usual steps have led. */
UNWIND_INLINE void unwind_usual_end(struct unwind_walk *walk, const struct unwind_usual *usual)
{
	walk->pc = usual->pc;
	walk->registers[UNWIND_SP] = usual->sp;
	walk->registers[UNWIND_FP] = usual->fp;
	walk->exact = 0;
	walk->by_chain = 0;
}

/* The first word of a rule with a bit that is 0 in all usual ones; see the assertions below. */
#define UNWIND_UNUSUAL                                                                             \
	(0xfeu << 8 * __builtin_offsetof(struct wire_rule, fp) |                                   \
	 (0xffu & ~WIRE_RULE_RBX_SAVED) << 8 * __builtin_offsetof(struct wire_rule, ra))

/* 1 if a field of the rule whose first word is `head` has the bit, else 0. */
#define UNWIND_FLAG(head, field, bit)                                                              \
	((__u64)(head) / ((bit) << 8 * __builtin_offsetof(struct wire_rule, field)) % 2)

/* What a callee of another file leaves as it was. */
#define UNWIND_KEPT (UNWIND_BIT(UNWIND_FP) | UNWIND_BIT(UNWIND_FOLLOWED))

/*
 * Takes the step, or returns false and changes nothing. `usual` is where the walk is, which has a
 * layout; the span of `cached` has that address, but it may be of another layout.
 */
UNWIND_INLINE bool unwind_usual(struct unwind_walk *walk, struct unwind_usual *usual,
				const struct unwind_cached_rule *cached UNWIND_CONTEXT)
{
	const struct wire_rule *rule = &cached->rule;
	__u64 cfa, pc, fp = usual->fp, other, known, saved, rbx_at;
	__u32 head;

	__builtin_memcpy(&head, rule, sizeof(head));
	if (UNLIKELY(cached->layout != walk->layout || head & UNWIND_UNUSUAL))
		return false;
	if ((__u8)head == WIRE_CFA_SP)
		cfa = usual->sp;
	else if (LIKELY((__u8)head == WIRE_CFA_FP && UNWIND_KNOWS(walk, UNWIND_FP)))
		cfa = fp;
	else
		return false;
	cfa += (__u64)(__s64)rule->cfa_offset;
	if (UNLIKELY(cfa <= usual->sp || cfa & 7))
		return false;
	if (UNLIKELY(!UNWIND_PEEK(&pc, ARCH_RETURN_AT(cfa, rule)) ||
		     ARCH_CODE_ADDRESS(pc, UNWIND_ADDRESS_BITS) < UNWIND_MIN_PC ||
		     ARCH_CODE_ADDRESS(pc, UNWIND_ADDRESS_BITS) >= UNWIND_MAX_USER))
		return false;
	if (rule->fp == WIRE_FP_CFA &&
	    UNLIKELY(!UNWIND_PEEK(&fp, cfa + (__u64)(__s64)rule->fp_offset)))
		return false;
	/*
	 * A callee of another file may have changed what the calling convention lets it change.
	 * Without branches, after which the verifier would follow each path on.
	 */
	other = -(__u64)walk->callee_owner & -(__u64)(walk->callee_owner ^ cached->owner);
	known = walk->known & (UNWIND_KEPT | ~(__u64)((__s64)other >> 63));
	known |= UNWIND_FLAG(head, fp, WIRE_FP_CFA) << UNWIND_FP;
	walk->known = (known & ~UNWIND_UNFOLLOWED) | UNWIND_BIT(UNWIND_SP);
	saved = UNWIND_FLAG(head, ra, WIRE_RULE_RBX_SAVED);
	rbx_at = cfa + (__u64)(__s64)rule->extra;
	walk->rbx_at += (rbx_at - walk->rbx_at) * saved;
	walk->callee_owner = cached->owner;
	usual->fp = fp;
	usual->sp = cfa;
	usual->pc = ARCH_CODE_ADDRESS(pc, UNWIND_ADDRESS_BITS);
	return true;
}

_Static_assert(WIRE_RA_CFA == 0, "a rule without flags has its return address below the CFA");
_Static_assert(WIRE_FP_SAME == 0 && WIRE_FP_CFA == 1, "the usual rules come first");
_Static_assert(__builtin_offsetof(struct wire_rule, cfa) == 0 &&
		       __builtin_offsetof(struct wire_rule, ra) < sizeof(__u32) &&
		       __builtin_offsetof(struct wire_rule, fp) < sizeof(__u32),
	       "one word has what makes a rule usual");
_Static_assert(WIRE_CFA_NONE != WIRE_CFA_SP && WIRE_CFA_NONE != WIRE_CFA_FP,
	       "what is cached of generated code is not usual");

#endif
