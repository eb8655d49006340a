/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the two ends of file_opener.h share: file_opener.c is ours, file_opener_child.c the child's.
 */
#ifndef STACKTALLY_FILES_FILE_OPENER_INTERNAL_H
#define STACKTALLY_FILES_FILE_OPENER_INTERNAL_H

#include <sys/socket.h>

#include "files/file_opener.h"

/* What the child is to do: to resolve `path` below `fd`, or, without a path, to copy `fd`. */
struct opening {
	int fd;
	const char *path;
	bool follow;
	enum file_extent extent;
	int copy; /* the memfd to copy to; -1: none */
};

/*
 * The child's last message is its result, an int: 0 or a negative errno; a resolved path's
 * descriptor comes with it. Before it come heartbeats, of one byte. The first message of a child
 * that copies is the status of the file: it sends that while it knows nothing of the content, which
 * could have taken it over later.
 */
union descriptor_message {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/*
 * A request to the child that resolves one path after the other: this, the path without its NUL,
 * and the directory's descriptor in the same message. It ends when its socket is closed.
 */
struct resolving {
	int follow;
};

/* Runs in that child, and ends it. */
_Noreturn void file_opener_resolve_all(int reply_fd);

/*
 * Runs in the child of one job, which answers over `reply_fd`, and ends it. By system calls only,
 * since a thread of the parent may have held locks of libc at the fork.
 */
_Noreturn void file_opener_serve(const struct opening *job, int reply_fd);

#endif
