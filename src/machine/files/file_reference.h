/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file as the kernel names it in a line of /proc/PID/maps or an mmap record, and opening it: the
 * very file that was mapped, never another that has taken its path since.
 */
#ifndef STACKTALLY_FILES_FILE_REFERENCE_H
#define STACKTALLY_FILES_FILE_REFERENCE_H

#include "confined/confined.h"
#include "files/file_opener.h"
#include "files/process_view.h"
#include "files/roots.h"

struct file_reference {
	const char *path; /* as the kernel wrote it, with any " (deleted)"; borrowed for ever */
	const char *undeleted;		    /* without it; the same pointer when there is none */
	uint64_t start, end;		    /* where the file is mapped: its name in map_files */
	uint64_t device, inode, generation; /* 0: not known; maps has no generation */
	uint32_t root;			    /* the process's: an id of roots.h */
};

/* How files are opened and looked at: all borrowed. */
struct file_access {
	const struct roots *roots;
	struct file_opener *opener;
	struct confined *readers;
	bool map_files_denied; /* set once /proc/PID/map_files was: it needs a capability */
};

/* Where an opened file was found. */
struct file_place {
	struct found_file found; /* the caller closes it */
	uint32_t root; /* an id of roots.h: that in which its path led to it, else the process's */
};

/*
 * Opens the file: by its mapping (map_files); by its path in the root of the process, in the root
 * that is kept for it, and in our own; as the program that the process runs (exe); or, if the root
 * of the process is not known, by its path in the roots of other processes. Returns a
 * descriptor (O_RDONLY; of a copy of the head if the file is not local, see file_opener.h), which
 * the caller closes, the status of the file, and its place. -ESTALE: only other files were found;
 * -ETIMEDOUT: its file system does not respond; or another negative errno.
 */
int file_reference_open(struct file_access *access, const struct file_reference *reference,
			const struct process_view *view, struct stat *ret_status,
			struct file_place *ret_place);

/*
 * The status of the file, without opening it, if its mapping leads to it: the fields that
 * path_stat_cached() sets. 0; -EREMOTE: its file system may not respond; or another negative errno.
 */
int file_reference_stat_mapping(struct file_access *access, const struct file_reference *reference,
				const struct process_view *view, struct stat *ret_status);

#endif
