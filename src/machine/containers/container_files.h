/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the files that container runtimes keep (container_config.h), in confined children. A file
 * counts if its owner is the given one, and nobody else can write to it.
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

/* The open file of one container. */
struct container_reading {
	int fd;
	size_t size;
	enum container_file kind;
};

#define CONTAINER_READINGS CONFINED_MAX_FDS /* that are read at once */

/*
 * Opens a file, which the caller closes. 0; -EAGAIN: its file system did not respond; or another
 * negative errno: there is none that counts.
 */
int container_files_open(const struct container_access *access, const struct container_place *place,
			 enum container_file kind, struct container_reading *ret_reading);

/*
 * Adds what the files of `n` containers say and the texts of each lack; all files have this owner.
 * A file that spoils the reading of all is read by itself. Returns 0, or -EAGAIN: the time for
 * files of this owner is used up, so that some were not read.
 */
int container_files_read(const struct container_access *access,
			 const struct container_reading *readings, uint32_t n, uid_t owner,
			 struct container_texts *const *texts);

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
