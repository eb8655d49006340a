/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a program of the system and reads what it prints.
 */
#ifndef STACKTALLY_BASE_PROGRAM_H
#define STACKTALLY_BASE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* All is borrowed. */
struct program {
	const char *const *argv;	/* argv[0] is a path, or a name to look for in our PATH */
	const char *const *environment; /* NULL: a PATH of the system and English messages */
	uint64_t limit_ns;		/* after which it is killed */
	bool messages;			/* its stderr is ours; else it is dropped */
};

/*
 * Runs the program without input. Gives what it prints to stdout, cut at `size` - 1 bytes and ended
 * by NUL. 0; -ETIMEDOUT; -ENOENT: it failed, or there is no such program; or another negative
 * errno.
 */
int program_output(const struct program *program, char *ret_text, size_t size);

/*
 * Starts the program with `input` as its descriptor 3, or without one if that is negative. What it
 * prints is read from *ret_out, until that ends. 0 or a negative errno; then program_end() is due.
 */
int program_start(const struct program *program, int input, int *ret_out, pid_t *ret_pid);
/* Waits for its end; whoever reads no further closes *ret_out before. 0, or -ENOENT: it failed. */
int program_end(pid_t pid);

#endif
