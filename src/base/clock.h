/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clocks as single numbers.
 */
#ifndef STACKTALLY_BASE_CLOCK_H
#define STACKTALLY_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_MS     UINT64_C(1000000)
#define NS_PER_SECOND UINT64_C(1000000000)

/* The time of a clock of clock_gettime(2), in nanoseconds. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/* CLOCK_MONOTONIC in nanoseconds: the clock of BPF's time stamps and of side-band records. */
static inline uint64_t monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* CLOCK_MONOTONIC in milliseconds: for deadlines and time-outs. */
static inline uint64_t monotonic_ms(void)
{
	return monotonic_ns() / NS_PER_MS;
}

#endif
