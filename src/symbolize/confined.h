/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs work on a hostile file in a child process that can do nothing but read files and write its
 * result to a pipe: it has no privileges, no other descriptors, few system calls (seccomp), and
 * limits of time and memory. A library that was not made for hostile input may crash or be taken
 * over there.
 *
 * The caller may have threads. So work() must not take locks that they may have held at the fork,
 * except those of malloc() and stdio, which libc's fork() keeps usable (not so the malloc() of an
 * address sanitizer). Must not know: what the work is.
 */
#ifndef STACKTALLY_SYMBOLIZE_CONFINED_H
#define STACKTALLY_SYMBOLIZE_CONFINED_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct confined {
	pid_t child; /* -1: none */
	int output;  /* the pipe to read the result from */
	char *bytes; /* read ahead: [at, end) */
	size_t at, end;
	/* Called at least once a second while confined_read() waits; or NULL. */
	void (*waiting)(void *context);
	void *waiting_context;
};

#define CONFINED_NONE ((struct confined){ .child = -1, .output = -1 })

/*
 * Runs work(context, fd, output) in a child, which has a copy of our memory. There `fd` is another
 * number for the same open file, and shares its offset. 0 or a negative errno.
 */
int confined_start(void (*work)(void *context, int fd, FILE *output), void *context, int fd,
		   struct confined *ret_confined);

/* Reads a result from a pipe or file instead; takes over the descriptor. For tests. */
int confined_open(int output, struct confined *ret_confined);

/*
 * Reads exactly `size` bytes of the result. 0; -ENODATA: it ended before; -ETIMEDOUT: at the time
 * `end_ns` (CLOCK_MONOTONIC); or another negative errno.
 */
int confined_read(struct confined *confined, void *bytes, size_t size, uint64_t end_ns);

/* Kills the child if it runs, and frees what belongs to it. */
void confined_end(struct confined *confined);

#endif
