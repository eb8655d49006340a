/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that code is mapped from, one for each identity, however many processes, mount
 * namespaces and paths they are met through. A file is opened when it is first met, while that
 * is still possible, its build-id is read, and as many as allowed are kept open: so they can be
 * read after they were deleted or replaced, or their mount namespace is gone.
 *
 * Ids and the returned structs stay valid for the life of `files`. Must not know: which
 * processes there are, what is mapped at which address.
 */
#ifndef STACKTALLY_PROCESS_FILES_H
#define STACKTALLY_PROCESS_FILES_H

#include <stdint.h>

#include "process/identity.h"
#include "process/images.h"

struct files;

/* `roots` and `answering` are borrowed. */
int files_new(uint32_t hold, const struct roots *roots, struct answering *answering,
	      struct files **ret_files);
void files_free(struct files *files);

/*
 * The id of the file. `tgid` is the process that maps it, looked at only if the file is not known
 * well enough yet: `view` is filled then, and closed by the caller. 0 or -ENOMEM.
 */
int files_identify(struct files *files, const struct file_sighting *sighting, pid_t tgid,
		   struct process_view *view, uint32_t *ret_file);

uint32_t files_n(const struct files *files);
/* How many are kept open. */
uint32_t files_n_held(const struct files *files);
const struct mapped_file *files_get(const struct files *files, uint32_t file);
/* As images_open_file(). */
int files_open(const struct files *files, uint32_t file);
/*
 * The same for one that may have been written to since: only the inode must be the same. Gives the
 * status of the file, which that of the descriptor may not be.
 */
int files_open_growing(const struct files *files, uint32_t file, struct stat *ret_status);
/* It was read and is ELF, or the kernel read a build-id in it. */
bool files_is_elf(const struct files *files, uint32_t file);
/* How many could not be opened. */
uint64_t files_unreadable(const struct files *files);

#endif
