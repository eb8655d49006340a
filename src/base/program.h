/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a program of the system and reads what it prints.
 */
#ifndef STACKTALLY_BASE_PROGRAM_H
#define STACKTALLY_BASE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
