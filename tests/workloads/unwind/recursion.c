// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer -fno-optimize-sibling-calls
/* recursion [DEPTH [ROUNDS]] */
#include <stdlib.h>

#include "case.h"

static NOINLINE long descend(long n)
{
	long local = n * 3;

	if (n == 0)
		return sink;
	sink += local;
	return descend(n - 1) + local;
}

int main(int argc, char **argv)
{
	int depth = argc > 1 ? atoi(argv[1]) : 1000;
	long rounds = argc > 2 ? atol(argv[2]) : 1;

	take_signals();
	for (long i = 0; i < rounds; i++)
		sink = descend(depth);
	return 0;
}
