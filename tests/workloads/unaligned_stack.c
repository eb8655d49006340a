// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O1 -mpreferred-stack-boundary=3 -mno-sse
/*
 * Deep recursion on a stack that is aligned to 8 bytes only: what a frame saves side by side lies
 * across the end of a page in some frames. `unaligned_stack DEPTH N` calls getppid() N times, that
 * deep.
 */
#include <stdlib.h>
#include <unistd.h>

static __attribute__((noinline)) int down(int depth, int times)
{
	volatile long kept[2] = { depth, times }; /* a frame of an odd number of words */

	if (depth == 0) {
		for (int i = 0; i < times; i++)
			(void)getppid();
		return 0;
	}
	return down(depth - 1, times) + (int)kept[0];
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	return down(atoi(argv[1]), atoi(argv[2])) < 0;
}
