/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files whose code a process maps, in the order of /proc/PID/maps: its program mostly first.
 * Consecutive mappings of one file are one.
 */
#ifndef STACKTALLY_TRIGGER_LIBRARY_MAPS_H
#define STACKTALLY_TRIGGER_LIBRARY_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

struct library_maps {
	FILE *file;
	pid_t pid;
	char *line;
	size_t size;
	/* The mapping: */
	char range[40];
	char *path; /* without " (deleted)" */
	uint64_t inode, device;
};

/* 0 or a negative errno. To be closed in any case. */
int library_maps_open(pid_t pid, struct library_maps *ret_maps);
void library_maps_close(struct library_maps *maps);

/* Moves to the next file; false behind the last one. */
bool library_maps_next(struct library_maps *maps);

/* The name of the mapped file in /proc, which leads to it whatever its path is now. */
void library_maps_link(const struct library_maps *maps, char *buffer, size_t size);

/* Whether it is this file. */
bool library_maps_is(const struct library_maps *maps, const struct stat *file);

#endif
