// SPDX-License-Identifier: GPL-2.0-or-later
/* clock_reader MS: reads the clock again and again, which happens in the vDSO. */
#include "burn.h"

static __attribute__((noinline)) void read_clock(uint64_t ns)
{
	uint64_t end = cpu_ns() + ns;
	struct timespec now;

	while (cpu_ns() < end)
		for (int i = 0; i < 20000; i++)
			clock_gettime(CLOCK_MONOTONIC, &now);
}

int main(int argc, char **argv)
{
	say_ready();
	read_clock(ns_argument(argc, argv, 1));
	return 0;
}
