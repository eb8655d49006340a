/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that code is mapped from: one entry for each file identity, however many processes,
 * mount namespaces and paths lead to it. A file is opened when it is first met, while that is
 * possible; its build-id is read, and as many files as allowed are held, so that they can be read
 * after they were deleted or replaced or their mount namespace is gone.
 *
 * Ids and the returned structs are valid as long as `files`. Used by one thread at a time. Must
 * not know: which processes there are, what is mapped at which address.
 */
#ifndef STACKTALLY_FILES_FILES_H
#define STACKTALLY_FILES_FILES_H

#include <stdint.h>

#include "files/file_outline.h"
#include "files/file_reference.h"
#include "files/mapped_file.h"

struct files;

/* `max_held` 0: a default. What `access` points to is borrowed. 0 or -ENOMEM. */
int files_new(uint32_t max_held, const struct file_access *access, struct files **ret_files);
void files_free(struct files *files);

/* As images_set_marker(). */
void files_set_marker(struct files *files, file_marker *marker);

/*
 * The id of the file that a reference means. If the file has to be opened for that and `view` is
 * not open, opens the view of the process `tgid` (0: none); the caller closes it. 0 or -ENOMEM.
 */
int files_identify(struct files *files, const struct file_reference *reference, pid_t tgid,
		   struct process_view *view, uint32_t *ret_file);

/*
 * Gives up the descriptors of the files whose element of `used`, which has files_n(), is false. A
 * file that was deleted cannot be opened any more then, and its disk space is free.
 */
void files_release(struct files *files, bool *used);

uint32_t files_n(const struct files *files);
uint32_t files_n_held(const struct files *files);
const struct mapped_file *files_get(const struct files *files, uint32_t file);

/* As images_open_file(). */
int files_open(const struct files *files, uint32_t file);

/*
 * The same for a file that is written to while it is mapped (jitdump): only the inode must match.
 * The status is that of the file, of which the descriptor may be a copy, of such an extent.
 */
int files_open_growing(const struct files *files, uint32_t file, enum file_extent extent,
		       struct stat *ret_status);

/* As images_open_path(). */
int files_open_path(const struct files *files, const char *path, struct stat *ret_status);

/* As images_file_is_shared() and images_open_beside(). */
bool files_is_shared(const struct files *files, uint32_t file);
int files_open_beside(const struct files *files, uint32_t file, const char *path,
		      struct stat *ret_status);

/* As images_file_segments(). */
int files_segments(const struct files *files, uint32_t file, struct load_segments *ret_segments);

/* True if the file was read and is ELF. */
bool files_is_elf(const struct files *files, uint32_t file);

/* The file that an id stands for: another one where two turned out to be the same. */
uint32_t files_resolved(const struct files *files, uint32_t file);
/* Whether the file was opened, and whether an attempt to do so has failed. */
bool files_is_readable(const struct files *files, uint32_t file);
bool files_was_unreadable(const struct files *files, uint32_t file);
/* How many files could be opened after an attempt that failed. */
uint64_t files_healed(const struct files *files);

/* The number of files that could not be opened. */
uint64_t files_unreadable(const struct files *files);

#endif
