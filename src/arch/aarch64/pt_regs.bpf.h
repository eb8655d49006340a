/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
#include <linux/ptrace.h>
#include <linux/types.h>

/* The kernel's own begins with these fields of struct user_pt_regs. What follows has moved. */
struct pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
};

_Static_assert(sizeof(struct pt_regs) == sizeof(struct user_pt_regs), "the same fields");

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs___kernel {
	int syscallno; /* of the system call; -1: it was not entered by one */
};

#pragma clang attribute pop
