/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening files that may be on a file system which does not answer. On a network's file system, or
 * one that a process serves, whose other end is gone, every call waits for ever, and not even
 * SIGKILL ends all of them. So paths that may lead there are walked, and files that are there are
 * read, by a child, which is left behind if it does not come back in time; what it found holds for
 * that place for a while. Such a file is read into memory: what is given out is a copy, that
 * always answers. Files of local file systems are opened as they are.
 *
 * Must not know: what files are wanted for. One user at a time.
 */
#ifndef STACKTALLY_PROCESS_ANSWERING_H
#define STACKTALLY_PROCESS_ANSWERING_H

#include <stdbool.h>
#include <sys/stat.h>

#include "process/mounts.h"

#define ANSWERING_MOST (1u << 30) /* bytes of a file that is copied */

struct answering;

enum answering_part {
	ANSWERING_WHOLE, /* all of the file; larger ones than ANSWERING_MOST: -EFBIG */
	ANSWERING_HEAD,	 /* what identifies it: its beginning and its ELF notes, the rest zeros */
};

/* 0 or -ENOMEM. */
int answering_new(struct answering **ret_answering);
void answering_free(struct answering *answering);

/* As mounts_kind(). */
enum mount_kind answering_kind(struct answering *answering, int path_fd, int process_dir);

/* The mounts that are known, borrowed. */
struct mounts *answering_mounts(const struct answering *answering);

/*
 * An O_PATH descriptor of a path in a root directory, links followed as that root has them, or
 * refused. `local`: nothing on its way can stop answering. -ETIMEDOUT: something on the
 * way does not answer.
 */
int answering_place(struct answering *answering, int root, const char *path, bool follow,
		    bool local);

/*
 * What an O_PATH descriptor stands for, if it is a regular file: opened for reading, or a copy if
 * `kind` is not MOUNT_LOCAL. The status is that of the file. -ETIMEDOUT: its file system does not
 * answer; -EINVAL: not a regular file.
 */
int answering_open(struct answering *answering, int path_fd, enum mount_kind kind,
		   enum answering_part part, struct stat *ret_status);

#endif
