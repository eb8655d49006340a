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

#define FILE_OPENER_LATE_SIZE 256 /* bytes of a path that is told; a long one is cut */

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

/*
 * A path that did not respond in time, untrusted text, and how many did not; NULL: all did. One
 * that is not tried again counts once.
 */
const char *file_opener_late(const struct file_opener *opener, uint32_t *ret_n);

/* Borrowed. */
struct mounts *file_opener_mounts(const struct file_opener *opener);

/* What symbolic links on a path may do. */
enum file_links {
	LINKS_FOLLOWED, /* they lead to no other mounts: the kernel's names of mappings have none */
	LINKS_REFUSED,	/* one anywhere on the path is an error */
	LINKS_ANYWHERE, /* they may lead to any mount */
};

/* A way to a file. All is borrowed; `remote` only until the next call. */
struct file_way {
	int directory;	  /* O_PATH, where the path begins; -1: there is no such way */
	const char *path; /* NULL: what leads to the file is `directory` itself */
	enum file_links links;
	const char *remote; /* the mount points that are not local, of the root (mounts.h) */
	const char *within; /* the path of `directory` in that root; NULL: it is the root */
	bool at_once;	    /* -EREMOTE if a file system on the way may not respond */
	int process_dir;    /* as mounts_kind() has it, for the file */
};

/*
 * Whether what was opened is the file that is looked for, and may be used: 0, or the negative errno
 * that file_opener_open() is to return. `copy`: what is open is a copy of it.
 */
struct file_check {
	int (*judge)(void *context, int fd, const struct stat *status, bool copy);
	void *context;
};

/* What leads to a file that was found, whatever happens to its path. */
struct found_file {
	int fd; /* O_PATH, which can be closed without a call to a file system; owned; -1: none */
	enum mount_kind kind;
};

/*
 * An O_PATH descriptor of what a way leads to, which the caller closes. Only this and the other
 * functions of this header ask whether a file system may not respond; if so, they wait no longer
 * than the deadline. -ETIMEDOUT: it does not respond.
 */
int file_opener_find(struct file_opener *opener, const struct file_way *way);

/*
 * The status of the file that a way leads to, without opening it: the fields that
 * path_stat_cached() sets. 0; -EREMOTE: its file system may not respond; or as for
 * file_opener_find().
 */
int file_opener_look(struct file_opener *opener, const struct file_way *way,
		     struct stat *ret_status);

/*
 * Opens the regular file that a way leads to: itself if its file system is local, else a copy.
 * Returns a descriptor, which the caller closes, and the status of the file (not of the copy), once
 * `check` has judged them (NULL: any will do). *ret_found, unless NULL, leads to the file again.
 * -ETIMEDOUT: a file system does not respond; -EINVAL: not a regular file.
 */
int file_opener_open(struct file_opener *opener, const struct file_way *way,
		     enum file_extent extent, const struct file_check *check,
		     struct stat *ret_status, struct found_file *ret_found);

/*
 * The status of a file that was found before, as the kernel has it cached. 0; -EREMOTE: even that
 * may take its file system; or another negative errno.
 */
int file_opener_look_again(const struct found_file *found, struct stat *ret_status);

/* As file_opener_open(), for a file that was found before. */
int file_opener_reopen(struct file_opener *opener, const struct found_file *found,
		       enum file_extent extent, const struct file_check *check,
		       struct stat *ret_status);

#endif
