/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
#define ARCH_N_REGISTERS 16

#define ARCH_FP	      6
#define ARCH_SP	      7
#define ARCH_RESULT   0 /* rax */
#define ARCH_ARGUMENT 5 /* rdi */
#define ARCH_FOLLOWED 3 /* rbx: see WIRE_RULE_RBX_SAVED */

/* r12 to r15, which are callee-saved but not followed: rules do not say where they are saved. */
#define ARCH_UNFOLLOWED (0xfu << 12)

#define ARCH_RETURN_AT(cfa, rule)     ((cfa)-8)
#define ARCH_SAVED_TOGETHER(rule)     ((rule)->fp_offset == -16) /* as after `push %rbp` */
#define ARCH_SAVED_AT(cfa, rule)      ((cfa)-16)
#define ARCH_CODE_ADDRESS(word, bits) (word)
