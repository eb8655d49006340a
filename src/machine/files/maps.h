/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of /proc/PID/maps (proc(5)), line by line. Reads only the bytes it is given and skips
 * what is not a line of that file.
 */
#ifndef STACKTALLY_FILES_MAPS_H
#define STACKTALLY_FILES_MAPS_H

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
	uint64_t device; /* encoded as st_dev */
	uint64_t inode;
	uint32_t access;  /* enum maps_access */
	const char *name; /* in the text: not terminated, newlines still as \012 */
	size_t name_size;
};

/*
 * Parses the next line of [*at, end) and moves *at behind it; the last one may lack its newline.
 * False when there is none left.
 */
bool maps_next(const char **at, const char *end, struct maps_line *ret_line);

/* Copies the name, newlines restored, cut to fit and terminated; returns its length. */
size_t maps_name(const struct maps_line *line, char *ret_name, size_t size);

/* The length of a name without the " (deleted)" that the kernel appends. */
size_t maps_name_undeleted(const char *name, size_t size);

#endif
