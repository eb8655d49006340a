/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the workloads: burns CPU time in known functions. Time is the CPU time of the calling
 * thread, so that other load on the machine does not change a program's number of samples.
 */
#ifndef BURN_H
#define BURN_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Spins for `ns` of CPU time; 0 is for ever. The system calls are few: most samples hit it. */
static __attribute__((noinline, unused)) void burn(uint64_t ns)
{
	uint64_t end = cpu_ns() + ns;

	do {
		for (volatile uint32_t i = 0; i < 50000; i++)
			;
	} while (!ns || cpu_ns() < end);
}

/* Milliseconds from argument `i`, as nanoseconds. */
static inline __attribute__((unused)) uint64_t ns_argument(int argc, char **argv, int i)
{
	return argc > i ? strtoull(argv[i], NULL, 10) * 1000000u : 0;
}

/* Prints the line that tests wait for before they measure. */
static inline __attribute__((unused)) void say_ready(void)
{
	printf("ready %d\n", getpid());
	fflush(stdout);
}

#endif
