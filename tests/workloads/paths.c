// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * paths MS [THREADS [LEVELS]]: recursion that calls one of two functions at each of 30 levels, by
 * random bits, and burns a little at the bottom, so that nearly every sample has a new stack.
 */
#include <pthread.h>

#include "burn.h"

#define LEVELS 30

static uint64_t each_ns;
static int levels_of_all = LEVELS;

__attribute__((noinline)) void left(uint32_t bits, int levels);
__attribute__((noinline)) void right(uint32_t bits, int levels);

static __attribute__((noinline)) void step(uint32_t bits, int levels)
{
	if (levels == 0)
		for (volatile int i = 0; i < 1500; i++)
			;
	else if (bits & 1)
		left(bits >> 1, levels - 1);
	else
		right(bits >> 1, levels - 1);
	__asm__ volatile("" ::: "memory");
}

void left(uint32_t bits, int levels)
{
	step(bits, levels);
	__asm__ volatile("" ::: "memory");
}

void right(uint32_t bits, int levels)
{
	step(bits, levels);
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void *walk(void *seed)
{
	uint64_t end = cpu_ns() + each_ns, random = (uint64_t)(intptr_t)seed * 0x9e3779b97f4a7c15u;

	while (!each_ns || cpu_ns() < end) {
		/* Many turns for each read of the clock, whose stacks are always the same. */
		for (int i = 0; i < 200; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			step((uint32_t)(random >> 33), levels_of_all);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t *threads = calloc((size_t)n, sizeof(*threads));

	if (!threads)
		return 1;
	if (argc > 3)
		levels_of_all = atoi(argv[3]);
	each_ns = ns_argument(argc, argv, 1);
	say_ready();
	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, walk, (void *)(intptr_t)(i + 1)))
			return 1;
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
