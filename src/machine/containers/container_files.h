/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the files that container runtimes keep (container_config.h), each in a confined child. A
 * file counts if its owner is the given one, and nobody else can write to it.
 */
#ifndef STACKTALLY_CONTAINERS_CONTAINER_FILES_H
#define STACKTALLY_CONTAINERS_CONTAINER_FILES_H

#include <sys/stat.h>

#include "confined/confined.h"
#include "containers/container_config.h"
#include "files/roots.h"

/* How files are reached and read. All are borrowed. */
struct container_access {
	struct roots *roots;
	struct file_opener *opener;
	struct confined *readers;
};

/* A file: its path in one of the roots, and who must own it. `path` is borrowed. */
struct container_place {
	uint32_t root;
	const char *path;
	uid_t owner;
};

/*
 * Adds what the file of one container says and `texts` lack; nothing if it cannot be read. 0, or
 * -EAGAIN: its file system did not respond, or the time for files of its owner is used up.
 */
int container_files_read(const struct container_access *access, const struct container_place *place,
			 enum container_file kind, struct container_texts *texts);

/*
 * The elements of a list, at most CONTAINER_LIST_MAX, which the caller frees, and how many: none if
 * it cannot be read. 0 or -EAGAIN, as above.
 */
int container_files_list(const struct container_access *access, const struct container_place *place,
			 struct container_listed **ret_elements, uint32_t *ret_n);

/* The status of a file, as file_opener_look() has it, without opening it. 0 or a negative errno. */
int container_files_look(const struct container_access *access, const struct container_place *place,
			 struct stat *ret_status);

#endif
