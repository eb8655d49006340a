/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The step from the page of vsyscalls, three functions of the kernel at fixed addresses
 * (arch/x86/entry/vsyscall). A call of one is a fault: the kernel does what the function does and
 * returns to the caller, so no instruction there ever runs and the return address is on top of the
 * stack. Part of bpf/unwind_step.h, whose includers define the macros.
 */
#ifndef STACKTALLY_BPF_UNWIND_VSYSCALL_H
#define STACKTALLY_BPF_UNWIND_VSYSCALL_H

#include <stdbool.h>

#include "bpf/unwind_walk.h"
#include "bpf/unwind_wire.h"

UNWIND_INLINE bool unwind_is_vsyscall(const struct unwind_walk *walk)
{
	return walk->pc >> WIRE_VSYSCALL_BITS == WIRE_VSYSCALL >> WIRE_VSYSCALL_BITS;
}

UNWIND_INLINE __u32 unwind_vsyscall(struct unwind_walk *walk UNWIND_CONTEXT)
{
	__u64 caller;

	if (UNWIND_READ(&caller, sizeof(caller), walk->registers[UNWIND_SP]))
		return WIRE_END_READ;
	walk->pc = caller;
	walk->registers[UNWIND_SP] += sizeof(caller);
	walk->exact = 0;
	return WIRE_END_NONE;
}

#endif
