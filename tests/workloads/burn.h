/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the measured programs share: CPU time spent in known places. Time is the CPU time of the
 * calling thread, so that a program's number of samples does not depend on what else runs.
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

/* Tells who started us, by a line, that what comes now is worth measuring. */
static inline __attribute__((unused)) void say_ready(void)
{
	printf("ready %d\n", getpid());
	fflush(stdout);
}

#endif
