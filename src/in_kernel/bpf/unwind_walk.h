/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The state of a walk of a user stack: the registers of the frame it is at. bpf/unwind_step.h moves
 * it to the caller's frame.
 */
#ifndef STACKTALLY_BPF_UNWIND_WALK_H
#define STACKTALLY_BPF_UNWIND_WALK_H

#include <stdbool.h>

#include "arch/registers.h"
#include "bpf/unwind_wire.h"

#define UNWIND_FP	  ARCH_FP
#define UNWIND_SP	  ARCH_SP
#define UNWIND_RESULT	  ARCH_RESULT
#define UNWIND_ARGUMENT	  ARCH_ARGUMENT
#define UNWIND_FOLLOWED	  ARCH_FOLLOWED
#define UNWIND_UNFOLLOWED ARCH_UNFOLLOWED

#define UNWIND_ALL_KNOWN	((__u32)((1ull << WIRE_N_REGISTERS) - 1))
#define UNWIND_BIT(reg)		(1u << ((reg) & (WIRE_N_REGISTERS - 1)))
#define UNWIND_KNOWS(walk, reg) ((walk)->known & UNWIND_BIT(reg))

#define UNWIND_MAX_USER (1ull << 56) /* user addresses are below: LA57 */
#define UNWIND_MIN_PC	4096ull	     /* the first page is never mapped */

struct unwind_walk {
	__u64 pc;
	__u64 registers[WIRE_N_REGISTERS]; /* by DWARF number */
	__u64 rbx_at; /* address where rbx was saved; 0: it is in its register */
	__u32 known;  /* UNWIND_BIT()s of the registers whose values are this frame's */
	__u32 exact;  /* pc was interrupted: it is not a return address */
	/* The mapping that was looked up last; see struct wire_mapping. */
	__u64 start, end, bias;
	__u32 root, owner;
	__u32 layout;	    /* `owner` of the struct wire_process that is used; 0: none yet */
	__u32 callee_owner; /* the table of the callee's frame; 0 in the first frame */
	__u32 tgid;
	__u32 may_chain; /* frame pointers may be followed in code that is known to keep them */
	__u32 by_chain;	 /* pc was found by frame pointer */
	__u32 assumed;	 /* a register was assumed to be preserved by a callee of the same file */
	__u32 last_rule; /* number of the rule that was looked up last */
	__u32 forgotten; /* see UNWIND_FORGET */
};

/* In place of a table's number: generated code. No table has this number. */
#define UNWIND_GENERATED (WIRE_NO_BLOCK - 1u)

/* A cached rule holds for addresses within one block of code of this size, in bytes. */
#define UNWIND_CACHE_BLOCK 64ull

/*
 * The number of the rule for an address, and for how many bytes before and after that address it
 * is known to hold: less than UNWIND_CACHE_BLOCK each.
 */
struct unwind_found_row {
	__u32 rule;
	__u32 before, after;
};

#define UNWIND_SPAN_BITS 56 /* of a user address: LA57 */

/*
 * A rule and the addresses it holds for. Valid while the process has that layout: neither the
 * mappings of a layout that have a table nor the rows of a table ever change.
 */
struct unwind_cached_rule {
	__u64 span;   /* the first address; above UNWIND_SPAN_BITS how many bytes follow it */
	__u32 layout; /* 0: empty */
	__u32 owner;  /* the table; UNWIND_GENERATED: no rule, but the frame pointer */
	struct wire_rule rule; /* of generated code: WIRE_CFA_NONE */
};

static inline __attribute__((always_inline)) __u64 unwind_span_first(__u64 span)
{
	return span << (64 - UNWIND_SPAN_BITS) >> (64 - UNWIND_SPAN_BITS);
}

static inline __attribute__((always_inline)) bool unwind_in_span(__u64 span, __u64 address)
{
	return address - unwind_span_first(span) <= span >> UNWIND_SPAN_BITS;
}

#endif
