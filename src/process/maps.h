/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of /proc/PID/maps, line by line. Pure: reads the bytes it is given and nothing else,
 * never beyond `end`, and skips what is not a line of that file.
 */
#ifndef STACKTALLY_PROCESS_MAPS_H
#define STACKTALLY_PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum maps_access {
	MAPS_READ = 1 << 0,
	MAPS_WRITE = 1 << 1,
	MAPS_EXECUTE = 1 << 2,
	MAPS_SHARED = 1 << 3,
};

struct maps_line {
	uint64_t start, end; /* start < end */
	uint64_t offset;
	uint64_t device; /* as st_dev has it */
	uint64_t inode;
	uint32_t access;  /* enum maps_access */
	const char *name; /* in the text, not terminated, newlines still as \012 */
	size_t name_size;
};

/*
 * Takes the next line from [*at, end) and moves *at behind it. A last line without its newline
 * counts. False when there is none left.
 */
bool maps_next(const char **at, const char *end, struct maps_line *ret_line);

/* Copies a name, newlines restored, terminated and cut to fit; returns its length. */
size_t maps_name(const struct maps_line *line, char *ret_name, size_t size);

/* The length of the name without a final " (deleted)", which the kernel puts there. */
size_t maps_name_undeleted(const char *name, size_t size);

#endif
