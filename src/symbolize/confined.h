/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs work on a hostile file in a child that can do nothing but read files and write its result
 * to a pipe: no privileges, no other descriptors, hardly any system calls, bounded time and memory.
 * Libraries that were not made for hostile input crash there, and cost the result, not us.
 *
 * The caller may have threads; work() then must not wait for what they held when the child was
 * made, except malloc() and stdio, which libc's fork() leaves in order (an address sanitizer's
 * malloc() is not left so). Must not know: what the work is.
 */
#ifndef STACKTALLY_SYMBOLIZE_CONFINED_H
#define STACKTALLY_SYMBOLIZE_CONFINED_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct confined {
	pid_t child; /* -1: none */
	int output;  /* to read from: its result, then its end */
	char *bytes; /* read ahead */
	size_t at, end;
	/* Called at least once a second while more is waited for; or NULL. */
	void (*waiting)(void *context);
	void *waiting_context;
};

#define CONFINED_NONE ((struct confined){ .child = -1, .output = -1 })

/*
 * Runs work(context, fd, output) in a child; `fd` is a number there, and stands for the same open
 * file, offset included. Memory is that of the moment, as a copy. 0 or a negative errno.
 */
int confined_start(void (*work)(void *context, int fd, FILE *output), void *context, int fd,
		   struct confined *ret_confined);

/* Takes what somebody else wrote to a pipe or file for the result; the descriptor is taken over. */
int confined_open(int output, struct confined *ret_confined);

/*
 * Reads exactly `size` bytes of the result. 0; -ENODATA at its end, also one in the middle;
 * -ETIMEDOUT at the time `end_ns` (CLOCK_MONOTONIC).
 */
int confined_read(struct confined *confined, void *bytes, size_t size, uint64_t end_ns);

/* Ends the child if it has not ended yet. */
void confined_end(struct confined *confined);

#endif
