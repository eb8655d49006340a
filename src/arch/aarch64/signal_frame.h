/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * At the stack pointer is struct rt_sigframe (arch/arm64/kernel/signal.c): 128 bytes of siginfo,
 * and a ucontext with the sigcontext 176 bytes into it, whose first field is a fault's address.
 * Then come x0 to x30, sp and pc.
 */
#define SIGNAL_REGISTERS 312

UNWIND_INLINE __u32 unwind_signal(struct unwind_walk *walk UNWIND_CONTEXT)
{
	__u64 at = walk->registers[UNWIND_SP] + SIGNAL_REGISTERS, pc;

	if (UNWIND_READ(&pc, sizeof(pc), at + sizeof(walk->registers)) ||
	    UNWIND_READ(walk->registers, sizeof(walk->registers), at))
		return WIRE_END_READ;
	walk->pc = pc;
	walk->known = UNWIND_ALL_KNOWN;
	walk->rbx_at = 0;
	walk->exact = 1;
	walk->callee_owner = 0;
	return WIRE_END_NONE;
}
