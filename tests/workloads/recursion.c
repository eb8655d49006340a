// SPDX-License-Identifier: GPL-2.0-or-later
/* recursion DEPTH MS: `descend` calls itself until it is on the stack DEPTH times, then burns. */
#include "burn.h"

static __attribute__((noinline)) void descend(unsigned int depth, uint64_t ns)
{
	if (depth > 1)
		descend(depth - 1, ns);
	else
		burn(ns);
	__asm__ volatile("" ::: "memory"); /* no tail call */
}

int main(int argc, char **argv)
{
	say_ready();
	descend(argc > 1 ? (unsigned int)atoi(argv[1]) : 1, ns_argument(argc, argv, 2));
	return 0;
}
