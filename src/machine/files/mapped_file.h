/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of a file that code was mapped from.
 */
#ifndef STACKTALLY_FILES_MAPPED_FILE_H
#define STACKTALLY_FILES_MAPPED_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/build_id.h"

/* One for each identity, shared by all processes. */
struct mapped_file {
	const char *path; /* in the root of the process that it was first met in */
	uint64_t device, inode, generation;
	uint64_t size; /* bytes; 0: the file could not be opened */
	int64_t mtime_ns;
	uint32_t build_id_size; /* 0: none known */
	uint8_t build_id[BUILD_ID_MAX];
	uint32_t marks; /* those that the outline's marker gave it */
	bool deleted;	/* the path did not lead to it any more when it was met */
};

#endif
