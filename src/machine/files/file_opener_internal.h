/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct file_opener, and what file_opener*.c share: file_opener.c asks whether a file system may
 * not respond, file_opener_jobs.c then has children do what may take long, file_opener_child.c is
 * their end.
 */
#ifndef STACKTALLY_FILES_FILE_OPENER_INTERNAL_H
#define STACKTALLY_FILES_FILE_OPENER_INTERNAL_H

#include <sys/socket.h>

#include "files/file_opener.h"

#define MAX_UNRESPONSIVE 64

/* A mount or directory that did not respond. */
struct unresponsive {
	uint64_t key;
	uint64_t until_ms;
	pid_t child; /* left behind, perhaps blocked for ever; 0: reaped */
};

struct file_opener {
	struct mounts *mounts;
	struct unresponsive unresponsive[MAX_UNRESPONSIVE];
	uint32_t n;
	uint32_t n_late;			/* openings that took too long, ever */
	char first_late[FILE_OPENER_LATE_SIZE]; /* the path of the first of them */
	pid_t resolver;				/* the child that resolves paths; 0: none */
	int requests;				/* its socket */
};

/* What a child is to do: to resolve `path` below `fd`, or, without a path, to copy `fd`. */
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

/* ---- file_opener_jobs.c ---- */

/* What the child has sent. */
struct file_reply {
	struct stat status; /* st_mode is 0 until it came */
	int found;	    /* the descriptor of a resolved path; -1: none */
};

/*
 * Has a child do a job. 0; -ETIMEDOUT: it took too long, now or lately; -EIO: the child died; or
 * the negative errno of the job. `ret_reply` is set also on failure.
 */
int file_opener_run(struct file_opener *opener, const struct opening *job,
		    struct file_reply *ret_reply);
/* Reaps the children that were left behind, if they have ended. */
void file_opener_reap(struct file_opener *opener);

/* ---- file_opener_child.c ---- */

/* Runs in that child, and ends it. */
_Noreturn void file_opener_resolve_all(int reply_fd);

/*
 * Runs in the child of one job, which answers over `reply_fd`, and ends it. By system calls only,
 * since a thread of the parent may have held locks of libc at the fork.
 */
_Noreturn void file_opener_serve(const struct opening *job, int reply_fd);

#endif
