/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What kind of file system a file is on, as far as that matters to who reads it: whether it can
 * stop answering. Known from mountinfo, so that the file system itself is not asked.
 *
 * Must not know: what files are wanted for.
 */
#ifndef STACKTALLY_PROCESS_MOUNTS_H
#define STACKTALLY_PROCESS_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mount_kind {
	MOUNT_LOCAL,   /* always answers, as long as the machine's own disks do */
	MOUNT_REMOTE,  /* another machine or a process answers; what the kernel remembers can be had
			*/
	MOUNT_UNKNOWN, /* the same, but asking for that may wait, too */
};

struct mounts;

/* 0 or -ENOMEM. */
int mounts_new(struct mounts **ret_mounts);
void mounts_free(struct mounts *mounts);

#define MOUNT_ID_NONE UINT64_MAX

/* The id of the mount that an O_PATH (or other) descriptor is on, or MOUNT_ID_NONE. Asks nobody. */
uint64_t mounts_id(int path_fd);

/*
 * The kind of the file system a descriptor is on. `process_dir` is /proc/PID of who sees it too,
 * or -1: a container's mounts are not among ours.
 */
enum mount_kind mounts_kind(struct mounts *mounts, int path_fd, int process_dir);

/*
 * Where the mounts are that can stop answering, one a line, as mountinfo writes it: of ours, or of
 * those that a process sees whose /proc/PID is `process_dir`. NULL when that cannot be found out.
 */
char *mounts_remote_points(struct mounts *mounts, int process_dir);
/* Of our own, kept up to date. Valid until something else is asked. */
const char *mounts_own_remote_points(struct mounts *mounts);
/*
 * No path of this name leads to one of these points; links are not looked at, and there are none in
 * what the kernel calls a mapping. NULL are points that are not known.
 */
bool mounts_path_is_local(const char *points, const char *path);

/*
 * The kind by a text as in mountinfo. `own` is ours, for the layers of overlays; `trusted` is the
 * mount id of our own root. MOUNT_UNKNOWN when the mount `id` is not in `text`.
 */
enum mount_kind mounts_kind_in(const char *text, const char *own, uint64_t id, uint64_t trusted);

#endif
