/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
#define ARCH_N_REGISTERS 32 /* x0 to x30 and sp */

#define ARCH_FP	      29
#define ARCH_SP	      31
#define ARCH_LINK     30 /* the return address, until the function saves it */
#define ARCH_RESULT   0
#define ARCH_ARGUMENT 0
#define ARCH_FOLLOWED ARCH_FP

/* x19 to x28, which are callee-saved; and x30, which each call overwrites. */
#define ARCH_UNFOLLOWED (0x3ffu << 19 | 1u << ARCH_LINK)

/* Frames may have the return address anywhere. */
#define ARCH_RETURN_AT(cfa, rule) ((cfa) + (__u64)(__s64)(rule)->extra)
#define ARCH_SAVED_TOGETHER(rule) ((rule)->fp_offset + 8 == (rule)->extra) /* `stp x29, x30` */
#define ARCH_SAVED_AT(cfa, rule)  ((cfa) + (__u64)(__s64)(rule)->fp_offset)

/* The bits above those of addresses are a signature, if the function signs (PAC). */
#define ARCH_CODE_ADDRESS(word, bits) ((word) & ((1ull << (bits)) - 1))
