/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * A walk of a user stack: where it is. Its registers are those of a frame; bpf/unwind_step.h takes
 * it to the caller's.
 */
#ifndef STACKTALLY_BPF_UNWIND_WALK_H
#define STACKTALLY_BPF_UNWIND_WALK_H

#include <stdbool.h>

#include "bpf/unwind_wire.h"

/* DWARF numbers of x86-64's registers. */
#define UNWIND_FP     6
#define UNWIND_SP     7
#define UNWIND_RESULT 0 /* of system calls */
#define UNWIND_KEPT   3 /* followed from frame to frame too: see WIRE_RULE_KEPT_SAVED */

/* What functions leave to their callers as they found it, and rules say nothing of: r12 to r15. */
#define UNWIND_UNFOLLOWED (0xfu << 12)

#define UNWIND_ALL_KNOWN ((1u << WIRE_N_REGISTERS) - 1)
#define UNWIND_BIT(reg)	 (1u << ((reg) & (WIRE_N_REGISTERS - 1)))

struct unwind_walk {
	__u64 pc;
	__u64 registers[WIRE_N_REGISTERS]; /* by DWARF number */
	__u64 kept_at; /* where UNWIND_KEPT was saved; 0: it is in its register */
	__u32 known;   /* bits: registers whose values are this frame's */
	__u32 exact;   /* pc was interrupted: it is not a return address */
	/* The mapping that was looked up last. */
	__u64 start, end, bias;
	__u32 root, owner;
	__u32 layout;	    /* owner of the struct wire_process walked by; 0: not known yet */
	__u32 callee_owner; /* the table of the frame before; 0 when this one is the first */
	__u32 tgid;
	__u32 may_chain; /* frame pointers may be followed where code is known to keep them */
	__u32 by_chain;	 /* pc was found by frame pointer */
	__u32 assumed;	 /* a register was taken to be unchanged by a callee of the same file */
	__u32 last_rule; /* number of the rule that was looked up last */
	__u32 forgotten; /* see UNWIND_FORGET */
};

/* Rules that were found are kept for addresses of one block of code. */
#define UNWIND_FOUND_BLOCK 256ull

/*
 * The rule for an address, and for how many bytes before and after it that holds too: as far as is
 * known, and less than UNWIND_FOUND_BLOCK.
 */
struct unwind_row_at {
	__u32 rule; /* its number */
	__u32 before, after;
};

#define UNWIND_SPAN_BITS 56 /* LA57 has so many */

/*
 * A rule that was found, for some addresses of a block: it holds for as long as the process has
 * that layout, as neither a layout's mappings of tables nor a table's rows ever change.
 */
struct unwind_found {
	__u64 span;   /* the first of these addresses, and above UNWIND_SPAN_BITS how many follow */
	__u32 layout; /* 0: nothing was found here yet */
	__u32 owner;  /* the table */
	struct wire_rule rule;
};

static inline __attribute__((always_inline)) bool unwind_in_span(__u64 span, __u64 address)
{
	__u64 first = span << (64 - UNWIND_SPAN_BITS) >> (64 - UNWIND_SPAN_BITS);

	return address - first <= span >> UNWIND_SPAN_BITS;
}

#endif
