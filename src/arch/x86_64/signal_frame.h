/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Takes the registers that the kernel saved when it delivered a signal. At the stack pointer is
 * struct rt_sigframe (arch/x86/include/asm/sigframe.h) without its first field, the return address,
 * which the handler has popped; the sigcontext is 40 bytes into its ucontext.
 */
UNWIND_INLINE __u32 unwind_signal(struct unwind_walk *walk UNWIND_CONTEXT)
{
	__u64 saved[17];

	if (UNWIND_READ(saved, sizeof(saved), walk->registers[UNWIND_SP] + 40))
		return WIRE_END_READ;
	walk->registers[8] = saved[0];
	walk->registers[9] = saved[1];
	walk->registers[10] = saved[2];
	walk->registers[11] = saved[3];
	walk->registers[12] = saved[4];
	walk->registers[13] = saved[5];
	walk->registers[14] = saved[6];
	walk->registers[15] = saved[7];
	walk->registers[5] = saved[8];	/* rdi */
	walk->registers[4] = saved[9];	/* rsi */
	walk->registers[6] = saved[10]; /* rbp */
	walk->registers[3] = saved[11]; /* rbx */
	walk->registers[1] = saved[12]; /* rdx */
	walk->registers[0] = saved[13]; /* rax */
	walk->registers[2] = saved[14]; /* rcx */
	walk->registers[7] = saved[15]; /* rsp */
	walk->pc = saved[16];
	walk->known = UNWIND_ALL_KNOWN;
	walk->rbx_at = 0;
	walk->exact = 1;
	walk->callee_owner = 0;
	return WIRE_END_NONE;
}
