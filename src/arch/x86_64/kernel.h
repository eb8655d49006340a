/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
#define ARCH_HAS_ORC	1
#define ARCH_STACK_SIZE 16384 /* THREAD_SIZE; with KASAN it is more */
/*
 * Where probed functions return to: `int3`; since Linux 6.11 `push %rax; push %rcx; push %r11; mov;
 * syscall; pop %r11; pop %rcx; ret`. The system call replaces the first word that was pushed by
 * where to return to.
 */
#define ARCH_RETURN_CALLED 13 /* behind the system call */
#define ARCH_RETURN_PUSHED(offset)                                                                 \
	((offset) == 0	  ? 0u                                                                     \
	 : (offset) == 1  ? 8u                                                                     \
	 : (offset) == 2  ? 16u                                                                    \
	 : (offset) == 15 ? 16u                                                                    \
	 : (offset) == 16 ? 8u                                                                     \
			  : 24u)
