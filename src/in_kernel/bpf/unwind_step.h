/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * One step of a walk: from a frame's registers to its caller's, by the tables of
 * bpf/unwind_wire.h. Written as the BPF verifier wants it, because three programs include this
 * text: the BPF program, the finisher of walks in user space (unwind/finish.c), and the walker of
 * tests (tests/walks/in_memory/native.c). Each of them defines first
 *
 *	UNWIND_CONTEXT		the end of a parameter list: what the macros below need, or nothing
 *	UNWIND_PASS		the same as arguments
 *	int UNWIND_READ(void *to, __u32 size, __u64 address)	reads the walked stack; 0 when read
 *	int UNWIND_CODE(void *to, __u32 size, __u64 address)	the same of the process's code
 *	const void *UNWIND_BLOCK(__u32 block)			or NULL
 *	const struct wire_rule *UNWIND_RULE(__u32 number)	or NULL
 *	const struct wire_process *UNWIND_PROCESS(__u32 tgid)	or NULL
 *	UNWIND_ADDRESS_BITS	see ARCH_CODE_ADDRESS()
 *
 * and, if it caches what it finds,
 *
 *	struct unwind_cached_rule *UNWIND_CACHED_RULE(walk, __u64 address)
 *		the rule that is cached for an address, or the place to cache it at; or NULL
 *	__u32 UNWIND_FIND_MAPPING(walk, __u64 address)
 *		in place of unwind_find_mapping()
 *	__u32 UNWIND_FIND_ROW(__u32 root, __u32 owner, __u32 address, ret_row)
 *		in place of unwind_find_row()
 *	__u32 UNWIND_SIGNAL_STEP(walk)
 *		in place of unwind_signal()
 *	__u32 UNWIND_GENERATED_STEP(walk, struct unwind_cached_rule *cached, bool known)
 *		in place of unwind_generated()
 *	bool UNWIND_IS_LUAJIT_FRAME(__u64 at)
 *		in place of unwind_is_luajit_frame()
 *	__u64 UNWIND_LUAJIT_FRAME(__u64 sp)
 *		in place of unwind_luajit_frame()
 */
#ifndef STACKTALLY_BPF_UNWIND_STEP_H
#define STACKTALLY_BPF_UNWIND_STEP_H

#include <stdbool.h>

#include "arch/registers.h"
#include "bpf/unwind_find.h"
#include "bpf/unwind_generated.h"
#include "bpf/unwind_luajit.h"
#include "bpf/unwind_signal.h"
#include "bpf/unwind_vsyscall.h"
#include "bpf/unwind_walk.h"
#include "bpf/unwind_wire.h"

#ifndef UNWIND_FIND_MAPPING
#define UNWIND_FIND_MAPPING(walk, address) unwind_find_mapping(walk, address UNWIND_PASS)
#endif
#ifndef UNWIND_FIND_ROW
#define UNWIND_FIND_ROW(root, owner, address, ret_row)                                             \
	unwind_find_row(root, owner, address, ret_row UNWIND_PASS)
#endif

#ifndef UNWIND_SIGNAL_STEP
#define UNWIND_SIGNAL_STEP(walk) unwind_signal(walk UNWIND_PASS)
#endif
#ifndef UNWIND_GENERATED_STEP
#define UNWIND_GENERATED_STEP(walk, cached, known) unwind_generated(walk, cached, known UNWIND_PASS)
#endif

#ifndef UNWIND_CACHED_RULE
#define UNWIND_CACHED_RULE(walk, address) (&(struct unwind_cached_rule){ 0 })
#endif

/* The value in this frame of a register that a rule needs. False when it is not known. */
UNWIND_INLINE bool unwind_register(struct unwind_walk *walk, __u32 reg,
				   __u64 *ret_value UNWIND_CONTEXT)
{
	reg &= WIRE_N_REGISTERS - 1;
	if (!UNWIND_KNOWS(walk, reg))
		return false;
	if (reg == UNWIND_FOLLOWED && walk->rbx_at)
		return !UNWIND_READ(ret_value, sizeof(*ret_value), walk->rbx_at);
	if (walk->callee_owner && reg != UNWIND_FP && reg != UNWIND_SP && reg != UNWIND_FOLLOWED)
		walk->assumed = 1;
	*ret_value = walk->registers[reg];
	return true;
}

/* The canonical frame address by the rule. WIRE_END_NONE, or why it is not known. */
UNWIND_INLINE __u32 unwind_cfa(struct unwind_walk *walk, const struct wire_rule *rule,
			       __u64 *ret_cfa UNWIND_CONTEXT)
{
	__u64 offset = (__u64)(__s64)rule->cfa_offset, extra = (__u64)(__s64)rule->extra;
	__u64 at, index;

	if (LIKELY(rule->cfa == WIRE_CFA_SP)) {
		*ret_cfa = walk->registers[UNWIND_SP] + offset;
		return WIRE_END_NONE;
	}
	switch (rule->cfa) {
	case WIRE_CFA_FP:
		if (!UNWIND_KNOWS(walk, UNWIND_FP))
			return WIRE_END_FP;
		*ret_cfa = walk->registers[UNWIND_FP] + offset;
		return WIRE_END_NONE;
	case WIRE_CFA_REG:
		if (!unwind_register(walk, rule->reg, &at UNWIND_PASS))
			return WIRE_END_REGISTER;
		*ret_cfa = at + offset;
		return WIRE_END_NONE;
	case WIRE_CFA_PLT:
		*ret_cfa = walk->registers[UNWIND_SP] + 8 + ((walk->pc & 15) >= offset ? 8 : 0);
		return WIRE_END_NONE;
	case WIRE_CFA_SP_DEREF:
		at = walk->registers[UNWIND_SP] + offset;
		break;
	case WIRE_CFA_FP_DEREF:
		if (!UNWIND_KNOWS(walk, UNWIND_FP))
			return WIRE_END_FP;
		at = walk->registers[UNWIND_FP] + offset;
		break;
	case WIRE_CFA_REG_DEREF:
		if (!unwind_register(walk, rule->reg, &at UNWIND_PASS))
			return WIRE_END_REGISTER;
		at += offset;
		break;
	case WIRE_CFA_SP_INDEX:
		if (!unwind_register(walk, rule->reg, &index UNWIND_PASS))
			return WIRE_END_REGISTER;
		at = walk->registers[UNWIND_SP] + offset + 8 * index;
		break;
	case WIRE_CFA_LUAJIT:
		at = UNWIND_LUAJIT_FRAME(walk->registers[UNWIND_SP]);
		*ret_cfa = at + offset;
		return at ? WIRE_END_NONE : WIRE_END_CFA;
	default:
		return rule->cfa == WIRE_CFA_NONE ? WIRE_END_NO_ROW : WIRE_END_CFA;
	}
	if (UNWIND_READ(ret_cfa, sizeof(*ret_cfa), at))
		return WIRE_END_READ;
	*ret_cfa += extra;
	return WIRE_END_NONE;
}

/* The caller's frame pointer. If it is unknown, the walk ends only where a rule needs it. */
UNWIND_INLINE __u32 unwind_frame_pointer(struct unwind_walk *walk, const struct wire_rule *rule,
					 __u64 cfa UNWIND_CONTEXT)
{
	__u64 offset = (__u64)(__s64)rule->fp_offset, fp = walk->registers[UNWIND_FP];
	bool known = false;

	switch (WIRE_RULE_FP(rule)) {
	case WIRE_FP_CFA:
		if (UNLIKELY(UNWIND_READ(&fp, sizeof(fp), cfa + offset)))
			return WIRE_END_READ;
		known = true;
		break;
	case WIRE_FP_FP:
		known = UNWIND_KNOWS(walk, UNWIND_FP);
		/* Compilers use this rule before the register is set and after `leave`, too: then
		 * it is the caller's already, and points outside of this frame. */
		if (known && fp >= walk->registers[UNWIND_SP] && fp < cfa &&
		    UNWIND_READ(&fp, sizeof(fp), fp + offset))
			return WIRE_END_READ;
		break;
	case WIRE_FP_REG:
		known = unwind_register(walk, rule->fp_offset, &fp UNWIND_PASS);
		break;
	}
	walk->registers[UNWIND_FP] = fp;
	if (known)
		walk->known |= UNWIND_BIT(UNWIND_FP);
	else
		walk->known &= ~UNWIND_BIT(UNWIND_FP);
	return WIRE_END_NONE;
}

/* The return address, if the rule says that it is not just below the CFA. */
UNWIND_INLINE __u32 unwind_return_elsewhere(struct unwind_walk *walk, const struct wire_rule *rule,
					    __u64 cfa, __u64 *ret_pc UNWIND_CONTEXT)
{
	switch (WIRE_RULE_RA(rule)) {
	case WIRE_RA_CLONE:
		return UNWIND_READ(ret_pc, sizeof(*ret_pc), cfa - 8) ? WIRE_END_READ
								     : WIRE_END_NONE;
	case WIRE_RA_CFA_OFFSET:
		return UNWIND_READ(ret_pc, sizeof(*ret_pc), cfa + (__u64)(__s64)rule->extra)
			       ? WIRE_END_READ
			       : WIRE_END_NONE;
	case WIRE_RA_REG:
		return unwind_register(walk, rule->reg, ret_pc UNWIND_PASS) ? WIRE_END_NONE
									    : WIRE_END_REGISTER;
	default:
		return WIRE_END_RA;
	}
}

/* Moves the walk to the caller, whose stack pointer is the CFA. */
UNWIND_INLINE __u32 unwind_return(struct unwind_walk *walk, const struct wire_rule *rule,
				  __u64 cfa UNWIND_CONTEXT)
{
	bool usual = WIRE_RULE_RA(rule) == WIRE_RA_CFA;
	__u64 saved[2], pc;
	__u32 end;

	if (LIKELY(usual) && rule->fp == WIRE_FP_CFA && ARCH_SAVED_TOGETHER(rule)) {
		/* one read */
		if (UNLIKELY(UNWIND_READ(saved, sizeof(saved), ARCH_SAVED_AT(cfa, rule))))
			return WIRE_END_READ;
		walk->registers[UNWIND_FP] = saved[0];
		walk->known |= UNWIND_BIT(UNWIND_FP);
		pc = saved[1];
	} else {
		if (LIKELY(usual)) {
			if (UNLIKELY(UNWIND_READ(&pc, sizeof(pc), ARCH_RETURN_AT(cfa, rule))))
				return WIRE_END_READ;
		} else {
			end = unwind_return_elsewhere(walk, rule, cfa, &pc UNWIND_PASS);
			if (end)
				return end;
		}
		if (rule->fp != WIRE_FP_SAME) {
			end = unwind_frame_pointer(walk, rule, cfa UNWIND_PASS);
			if (end)
				return end;
		}
	}
	walk->pc = ARCH_CODE_ADDRESS(pc, UNWIND_ADDRESS_BITS);
	walk->registers[UNWIND_SP] = cfa;
	walk->known = (walk->known & ~UNWIND_UNFOLLOWED) | UNWIND_BIT(UNWIND_SP);
	walk->exact = rule->fp / WIRE_RULE_EXACT;
	if (UNLIKELY(rule->ra & WIRE_RULE_FLAGS)) {
		if (rule->ra & WIRE_RULE_RBX_SAVED)
			walk->rbx_at = cfa + (__u64)(__s64)rule->extra;
		if (rule->ra & (WIRE_RULE_RBX_LOST | WIRE_RULE_FRAME_POINTER))
			walk->known &= ~UNWIND_BIT(UNWIND_FOLLOWED);
		walk->by_chain = (rule->ra & WIRE_RULE_FRAME_POINTER) != 0;
	}
	return WIRE_END_NONE;
}

/* The addresses that a row holds for, within the mapping and the block of code. */
UNWIND_INLINE __u64 unwind_span(const struct unwind_walk *walk, __u64 address,
				const struct unwind_found_row *row)
{
	__u64 at = address % UNWIND_CACHE_BLOCK, before, after;

	before = smaller(smaller(row->before, at), address - walk->start);
	after = smaller(smaller(row->after, UNWIND_CACHE_BLOCK - 1 - at), walk->end - 1 - address);
	return (address - before) | (before + after) << UNWIND_SPAN_BITS;
}

/* Finds the rule for an address of the walk's mapping, and caches it. */
UNWIND_INLINE __u32 unwind_find_rule(struct unwind_walk *walk, __u64 address,
				     struct unwind_cached_rule *cached UNWIND_CONTEXT)
{
	const struct wire_rule *rule;
	__u64 in_file = address - walk->bias;
	struct unwind_found_row row;
	__u32 end;

	if (in_file >> 32)
		return WIRE_END_NO_ROW;
	end = UNWIND_FIND_ROW(WIRE_MAPPING_ROOT(walk->root), walk->owner, (__u32)in_file, &row);
	if (end)
		return end;
	walk->last_rule = row.rule;
	rule = UNWIND_RULE(row.rule);
	if (!rule)
		return WIRE_END_STALE;
	cached->span = unwind_span(walk, address, &row);
	cached->layout = walk->layout;
	cached->owner = walk->owner;
	cached->rule = *rule;
	return WIRE_END_NONE;
}

/* Why an uncommon rule leads to no caller; WIRE_END_NONE: it does. */
UNWIND_INLINE __u32 unwind_is_end(const struct unwind_walk *walk, const struct wire_rule *rule)
{
	if (rule->ra & WIRE_RULE_FRAME_POINTER && !walk->may_chain)
		return WIRE_END_NO_CFI;
	switch (WIRE_RULE_RA(rule)) {
	case WIRE_RA_END:
		return WIRE_END_COMPLETE;
	case WIRE_RA_ENTRY:
		return WIRE_END_ENTRY;
	case WIRE_RA_FIBER:
		return WIRE_END_FIBER;
	case WIRE_RA_CLONE:
		/* Right after the system call. No callee ran, so rax is its result: 0 in a new
		 * thread. */
		if (walk->callee_owner || !UNWIND_KNOWS(walk, UNWIND_RESULT))
			return WIRE_END_REGISTER;
		return walk->registers[UNWIND_RESULT] == 0 ? WIRE_END_ENTRY : WIRE_END_NONE;
	default:
		return WIRE_END_NONE;
	}
}

UNWIND_INLINE __u32 unwind_by_rule(struct unwind_walk *walk,
				   const struct unwind_cached_rule *cached UNWIND_CONTEXT)
{
	const struct wire_rule *rule = &cached->rule;
	__u64 cfa = 0;
	__u32 end;

	/* A callee of another file may have changed what the calling convention lets it change. */
	if (UNLIKELY(walk->callee_owner && walk->callee_owner != cached->owner))
		walk->known &=
			UNWIND_BIT(UNWIND_FP) | UNWIND_BIT(UNWIND_SP) | UNWIND_BIT(UNWIND_FOLLOWED);
	if (UNLIKELY(rule->ra & ~(WIRE_RULE_RBX_SAVED | WIRE_RULE_RBX_LOST))) {
		end = unwind_is_end(walk, rule);
		if (end)
			return end;
		if (WIRE_RULE_RA(rule) == WIRE_RA_SIGNAL)
			return UNWIND_SIGNAL_STEP(walk);
	}
	end = unwind_cfa(walk, rule, &cfa UNWIND_PASS);
	if (UNLIKELY(end))
		return end;
	/* At least the return address lies below the CFA. vfork() keeps it in a register. */
	if (UNLIKELY((cfa <= walk->registers[UNWIND_SP] && !(rule->ra & WIRE_RULE_NEW_STACK) &&
		      (cfa < walk->registers[UNWIND_SP] || WIRE_RULE_RA(rule) != WIRE_RA_REG)) ||
		     cfa & 7))
		return WIRE_END_SP;
	end = unwind_return(walk, rule, cfa UNWIND_PASS);
	walk->callee_owner = cached->owner;
	return end;
}

/* Finds the mapping of an address and, if that has a table, the rule. */
UNWIND_INLINE __u32 unwind_find(struct unwind_walk *walk, __u64 address,
				struct unwind_cached_rule *cached UNWIND_CONTEXT)
{
	__u32 end = WIRE_END_NONE;

	if (address < walk->start || address >= walk->end)
		end = UNWIND_FIND_MAPPING(walk, address);
	if (end)
		return end;
	switch (WIRE_MAPPING_KIND(walk->root)) {
	case WIRE_MAPPING_TABLE:
		return unwind_find_rule(walk, address, cached UNWIND_PASS);
	case WIRE_MAPPING_JIT:
		return WIRE_END_NONE;
	case WIRE_MAPPING_PENDING:
		return WIRE_END_PENDING;
	case WIRE_MAPPING_NO_CFI:
		return WIRE_END_NO_CFI;
	case WIRE_MAPPING_SPECIAL:
		return WIRE_END_SPECIAL;
	case WIRE_MAPPING_EVICTED:
		return WIRE_END_EVICTED;
	case WIRE_MAPPING_TIME_USED_UP:
		return WIRE_END_TIME_USED_UP;
	case WIRE_MAPPING_NOT_OPENED:
		return WIRE_END_NOT_OPENED;
	default:
		return WIRE_END_BROKEN;
	}
}

UNWIND_INLINE __u32 unwind_check_pc(const struct unwind_walk *walk)
{
	return UNLIKELY(walk->pc < UNWIND_MIN_PC || walk->pc >= UNWIND_MAX_USER) ? WIRE_END_PC
										 : WIRE_END_NONE;
}

/* The step where no table has the address; `end` says why. */
UNWIND_INLINE __u32 unwind_outside(struct unwind_walk *walk, __u32 end UNWIND_CONTEXT)
{
	if (unwind_is_vsyscall(walk))
		end = unwind_vsyscall(walk UNWIND_PASS);
	return end ? end : unwind_check_pc(walk);
}

/*
 * Moves the walk to the caller's frame. WIRE_END_NONE, or why there is no caller to be found: then
 * the walk is over.
 */
UNWIND_INLINE __u32 unwind_step(struct unwind_walk *walk UNWIND_CONTEXT)
{
	__u64 address = walk->pc - (walk->exact ? 0 : 1);
	struct unwind_cached_rule *cached = UNWIND_CACHED_RULE(walk, address);
	bool by_rule = true, known = false;
	__u32 end;

	if (!cached)
		return WIRE_END_STALE;
	walk->by_chain = 0;
	if (UNLIKELY(cached->layout == 0 || cached->layout != walk->layout ||
		     !unwind_in_span(cached->span, address))) {
		end = unwind_find(walk, address, cached UNWIND_PASS);
		if (end)
			return unwind_outside(walk, end UNWIND_PASS);
		by_rule = WIRE_MAPPING_KIND(walk->root) == WIRE_MAPPING_TABLE;
	} else if (UNLIKELY(cached->owner == UNWIND_GENERATED)) {
		by_rule = false;
		known = true;
	}
	if (LIKELY(by_rule))
		end = unwind_by_rule(walk, cached UNWIND_PASS);
	else
		end = UNWIND_GENERATED_STEP(walk, cached, known);
	if (UNLIKELY(end))
		return end;
	return unwind_check_pc(walk);
}

#endif
