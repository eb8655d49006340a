// SPDX-License-Identifier: GPL-2.0-or-later
/* The smallest program there is to execute: no libc; a little work, so that samples hit it. */
#include <sys/syscall.h>

__attribute__((noinline)) static void work(void)
{
	for (volatile int i = 0; i < 20000; i++)
		;
}

__attribute__((noreturn)) void _start(void)
{
#ifdef __x86_64__
	__asm__ volatile(".cfi_undefined rip"); /* nobody called it */
	work();
	__asm__ volatile("syscall" : : "a"(SYS_exit), "D"(0));
#else
	work();
	register long number __asm__("x8") = SYS_exit, status __asm__("x0") = 0;
	__asm__ volatile("svc 0" : : "r"(number), "r"(status));
#endif
	for (;;) /* after the call of the kernel is still in here */
		;
}
