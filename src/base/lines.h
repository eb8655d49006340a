/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a text file line by line from a descriptor, in memory of a fixed size, for the sources
 * that are lists of symbols: /proc/kallsyms, /proc/modules, perf maps.
 */
#ifndef STACKTALLY_BASE_LINES_H
#define STACKTALLY_BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINES_MAX_SIZE 16384 /* what is beyond this in a line is left out */

/*
 * Calls each(context, line, size) for every line, without its newline, NUL-terminated, until the
 * end, `limit` bytes, or a result other than 0, which it returns. Otherwise 0 or the negative
 * errno of a read.
 */
int lines_read(int fd, uint64_t limit, int (*each)(void *context, char *line, size_t size),
	       void *context);

/* A hexadecimal number of 1 to 16 digits at *at, which is moved behind it. */
bool lines_hex(const char **at, const char *end, uint64_t *ret_number);

#endif
