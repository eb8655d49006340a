/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens files without waiting for file systems that do not respond. When the server of an NFS or
 * FUSE mount is gone, a call to it blocks for ever, and SIGKILL does not always end it. So paths
 * that may lead to such a mount are resolved, and files there are read, by a child process with a
 * deadline: one child resolves path after path, since a fork for each of thousands of short-lived
 * processes takes seconds; a file is read by a child of its own. A child that misses it is killed
 * and left behind, and the same mount (for a path: the same directory) is not tried again for 30
 * seconds. Meanwhile, each of these shortens the deadlines of the others. The child copies the file
 * to memory, so what the caller gets is a memfd that always responds; once the file is open, it has
 * no privileges. Files of local file systems are opened directly.
 *
 * Used by one thread at a time. Must not know: what the files are for.
 */
#ifndef STACKTALLY_FILES_FILE_OPENER_H
#define STACKTALLY_FILES_FILE_OPENER_H

#include <stdbool.h>
#include <sys/stat.h>

#include "files/mounts.h"

#define FILE_OPENER_MAX (1u << 30) /* bytes of a file that is copied */

struct file_opener;

/* How much of a file that is not local is copied. */
enum file_extent {
	FILE_WHOLE, /* all of it; -EFBIG if it is larger than FILE_OPENER_MAX */
	FILE_HEAD,  /* the first 64 KB and the ELF notes, enough to identify it; zeros elsewhere */
};

/* 0 or -ENOMEM. */
int file_opener_new(struct file_opener **ret_opener);
void file_opener_free(struct file_opener *opener);

/* Ends the child that resolves paths, which has the memory of a copy of this process. */
void file_opener_rest(struct file_opener *opener);

/* As mounts_kind(). */
enum mount_kind file_opener_mount_kind(struct file_opener *opener, int path_fd, int process_dir);

/* Borrowed. */
struct mounts *file_opener_mounts(const struct file_opener *opener);

/*
 * As path_resolve(), with the deadline unless `local` says that no mount on the way is remote.
 * -ETIMEDOUT: a file system on the way does not respond.
 */
int file_opener_resolve(struct file_opener *opener, int root, const char *path, bool follow,
			bool local);

/*
 * Opens the regular file that an O_PATH descriptor stands for: itself if `kind` is MOUNT_LOCAL,
 * else a copy. Returns a descriptor, which the caller closes, and the status of the file (not of
 * the copy). -ETIMEDOUT: its file system does not respond; -EINVAL: not a regular file.
 */
int file_opener_open(struct file_opener *opener, int path_fd, enum mount_kind kind,
		     enum file_extent extent, struct stat *ret_status);

#endif
