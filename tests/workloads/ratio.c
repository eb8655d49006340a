// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ratio MS: two functions that share a loop; spin_double is given exactly twice the turns that
 * spin_single is. The slices are of random length, so that no sampling is in step with them.
 * At the end: `cpu_ns N`, the CPU time of the process.
 */
#include "burn.h"

static __attribute__((noinline)) void turns(uint32_t n)
{
	for (volatile uint32_t i = 0; i < n; i++)
		;
}

static __attribute__((noinline)) void spin_double(uint32_t n)
{
	turns(2 * n);
}

static __attribute__((noinline)) void spin_single(uint32_t n)
{
	turns(n);
}

int main(int argc, char **argv)
{
	uint64_t end = cpu_ns() + ns_argument(argc, argv, 1);
	uint32_t random = 1;

	while (cpu_ns() < end) {
		random = random * 1664525u + 1013904223u;
		spin_double(20000 + (random >> 16));
		spin_single(20000 + (random >> 16));
	}
	printf("cpu_ns %llu\n", (unsigned long long)cpu_ns());
	return 0;
}
