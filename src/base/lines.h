/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a text file line by line from a descriptor, in 64 KiB of memory: /proc/kallsyms,
 * /proc/modules, perf maps.
 */
#ifndef STACKTALLY_BASE_LINES_H
#define STACKTALLY_BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINES_MAX_SIZE 16384 /* bytes; longer lines are cut here */

/*
 * Calls each(context, line, size) for every line, which is NUL-terminated and without its newline,
 * until the end of the file, or until `limit` bytes were read. Stops at the first result of each()
 * that is not 0, and returns it. Else 0, -ENOMEM, or the negative errno of a read.
 */
int lines_read(int fd, uint64_t limit, int (*each)(void *context, char *line, size_t size),
	       void *context);

/* Parses 1 to 16 hexadecimal digits at *at and moves *at behind them; false: there are none. */
bool lines_hex(const char **at, const char *end, uint64_t *ret_number);

#endif
