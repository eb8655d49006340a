// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer
/* Contexts (swapcontext()) that take turns, each on a mapping of its own. fibers [ROUNDS] */
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "case.h"

static ucontext_t main_context, fibers[2];
static long rounds = 3;

static NOINLINE long work(long n)
{
	sink += n;
	return n + 1;
}

static NOINLINE void yield(int from, int to)
{
	sink += work(from);
	swapcontext(&fibers[from], &fibers[to]);
	sink += work(to);
}

static void fiber(int number)
{
	for (long i = 0; i < rounds; i++)
		yield(number, !number);
	sink += work(number);
}

static void make(int number)
{
	size_t size = 65536;
	char *area = mmap(NULL, size + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED || mprotect(area + 4096, size, PROT_READ | PROT_WRITE))
		exit(1);
	getcontext(&fibers[number]);
	fibers[number].uc_stack.ss_sp = area + 4096;
	fibers[number].uc_stack.ss_size = size;
	fibers[number].uc_link = &main_context;
	makecontext(&fibers[number], (void (*)(void))fiber, 1, number);
}

int main(int argc, char **argv)
{
	ucontext_t here;
	volatile int again = 0;

	if (argc > 1)
		rounds = atol(argv[1]);
	take_signals();
	make(0);
	make(1);
	swapcontext(&main_context, &fibers[0]);
	getcontext(&here);
	if (again++ == 0)
		setcontext(&here);
	return 0;
}
