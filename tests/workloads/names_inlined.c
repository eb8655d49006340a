// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * names_inlined MS: spends its CPU time in functions that are inlined into others, three deep, and
 * in calls through the procedure linkage table.
 * cflags: -O2 -no-pie -fplt -fno-builtin -fno-optimize-sibling-calls
 */
#include <string.h>

#include "burn.h"

static volatile uint64_t sum;

static inline __attribute__((always_inline)) void add(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		sum += i ^ (sum >> 3);
}

static inline __attribute__((always_inline)) void add_twice(uint64_t n)
{
	add(n);
	add(n / 2);
}

static __attribute__((noinline)) void compute(uint64_t n)
{
	add_twice(n);
	sum++;
}

static __attribute__((noinline)) void call_library(const char *text)
{
	for (int i = 0; i < 20000; i++)
		sum += strlen(text);
}

int main(int argc, char **argv)
{
	uint64_t end = cpu_ns() + ns_argument(argc, argv, 1);

	say_ready();
	while (cpu_ns() < end) {
		compute(20000);
		call_library("");
	}
	return 0;
}
