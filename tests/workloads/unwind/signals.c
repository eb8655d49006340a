// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer
/*
 * Signal handlers on the same and on another stack, nested, of faults, left by siglongjmp. Each
 * stack is a mapping of its own.
 */
#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "case.h"

static sigjmp_buf back;

static NOINLINE long work(long n)
{
	sink += n;
	return n * 2;
}

static NOINLINE void on_inner(int number)
{
	sink += work(number);
}

static NOINLINE void on_outer(int number, siginfo_t *info, void *context)
{
	sink += work(number) + (context != NULL) + info->si_pid;
	raise(SIGUSR2);
	sink += work(number);
}

static NOINLINE void on_fault(int number)
{
	sink += work(number);
	siglongjmp(back, 1);
}

static NOINLINE long fault(void)
{
	return *(volatile long *)8;
}

static void *stack_of(size_t size)
{
	char *area = mmap(NULL, size + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED || mprotect(area + 4096, size, PROT_READ | PROT_WRITE))
		exit(1);
	return area + 4096;
}

static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(number, &action, NULL);
}

int main(void)
{
	stack_t other = { .ss_sp = stack_of(65536), .ss_size = 65536 };

	take_signals();
	sigaltstack(&other, NULL);
	for (int flags = 0; flags <= SA_ONSTACK; flags += SA_ONSTACK) {
		handle(SIGUSR2, on_inner, flags);
		handle(SIGALRM, (void (*)(int))on_outer, flags | SA_SIGINFO);
		handle(SIGSEGV, on_fault, flags | SA_NODEFER);
		raise(SIGALRM);
		kill(getpid(), SIGALRM);
		if (!sigsetjmp(back, 1))
			sink = fault();
		/* A call through a null pointer: its callers are still on the stack. */
		sink += work(1);
	}
	return 0;
}
