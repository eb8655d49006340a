// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ratio MS: two functions that share a loop; spin_double always runs exactly twice as many turns as
 * spin_single. Slices have random lengths, so that no sampling period is in step with them. Prints
 * `cpu_ns N STOLEN` at the end: the CPU time of the process, and how much of it the host took away.
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
	uint64_t now = cpu_ns(), end = now + ns_argument(argc, argv, 1), before, stolen = 0;
	double best = 1e9; /* ns a turn */
	uint32_t random = 1, n;

	while (now < end) {
		random = random * 1664525u + 1013904223u;
		n = 20000 + (random >> 16);
		spin_double(n);
		spin_single(n);
		before = now;
		now = cpu_ns();
		if ((double)(now - before) < best * 3 * n)
			best = (double)(now - before) / (3 * n);
		/* The host took the CPU: the kernel counts that time as ours, but no timer ran. */
		if ((double)(now - before) > 3 * best * 3 * n)
			stolen += now - before - (uint64_t)(best * 3 * n);
	}
	printf("cpu_ns %llu %llu\n", (unsigned long long)now, (unsigned long long)stolen);
	return 0;
}
