// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sc_leaf N: calls functions with and without frame pointers N times each, from callers that have
 * them. Optimized, as most measured programs are.
 * cflags: -O2 -fno-omit-frame-pointer
 */
#include <stdlib.h>

static volatile unsigned long sink;

/* The variable is on the stack: gcc makes no frame for a function without any. */
__attribute__((noipa)) void leaf_framed(void)
{
	volatile unsigned long here = sink;

	sink = here + 1;
}

__attribute__((noipa, optimize("omit-frame-pointer"))) void leaf_frameless(void)
{
	sink++;
}

/* Moves the stack pointer and keeps no frame pointer: the return address is further up. */
__attribute__((noipa, optimize("omit-frame-pointer"))) void leaf_frameless_big(unsigned long n)
{
	volatile char capacity[512];

	capacity[n % sizeof(capacity)] = (char)n;
	sink += (unsigned char)capacity[n % sizeof(capacity)];
}

__attribute__((noipa)) void direct_caller(unsigned long n)
{
	leaf_framed();
	leaf_frameless();
	leaf_frameless_big(n);
	sink++;
}

__attribute__((noipa)) void caller_of_caller(unsigned long n)
{
	direct_caller(n);
	sink++;
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;

	for (unsigned long i = 0; i < n; i++)
		caller_of_caller(i);
	return 0;
}
