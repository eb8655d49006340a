/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A duration is a promise: where a measurement begins or ends later than it should, one line tells
 * by how much, what was waited for, and how much of the CPUs the program has had. Times are of
 * CLOCK_MONOTONIC, in ns.
 */
#ifndef STACKTALLY_RUN_DELAYS_H
#define STACKTALLY_RUN_DELAYS_H

#include <stdbool.h>
#include <stdint.h>

/* When each part of the end was over; 0: not yet. */
struct delays {
	uint64_t due;	  /* when counting had to stop */
	uint64_t stopped; /* when it did */
	uint64_t counted; /* the last counts are in the tally */
	uint64_t named;
	uint64_t written;
	uint64_t awaited_ns; /* for how long the command went on since then */
	bool launched; /* there is a command, whose CPU time must not be told as that of helpers */
};

/* Tells if a program that began at `began` measures only now, a second later or more. */
void delays_tell_begin(uint64_t began);

/* The same of the end, which is now, if all parts are known. */
void delays_tell_end(const struct delays *delays);

#endif
