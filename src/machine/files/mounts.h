/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the file system behind a descriptor can stop responding, found from mountinfo without a
 * call to that file system. What is found is cached for some seconds.
 *
 * Used by one thread at a time. Must not know: what the files are for.
 */
#ifndef STACKTALLY_FILES_MOUNTS_H
#define STACKTALLY_FILES_MOUNTS_H

#include "files/mountinfo.h"

#define MOUNT_ID_NONE UINT64_MAX

struct mounts;

/* 0 or -ENOMEM. */
int mounts_new(struct mounts **ret_mounts);
void mounts_free(struct mounts *mounts);

/* The id of the mount that a descriptor, also an O_PATH one, is on; MOUNT_ID_NONE on failure. */
uint64_t mounts_id(int path_fd);

/*
 * The kind of the mount that a descriptor is on. A mount that is not in our own mount namespace is
 * looked up in that of the process whose /proc/PID is `process_dir` (-1: none).
 */
enum mount_kind mounts_kind(struct mounts *mounts, int path_fd, int process_dir);

/*
 * The mount points that are not local in the namespace of the process whose /proc/PID is
 * `process_dir`, for mountinfo_path_is_local(); the caller frees it. NULL on failure.
 */
char *mounts_remote_points(struct mounts *mounts, int process_dir);

/* The same for our own namespace; borrowed until the next call of a function of this header. */
const char *mounts_own_remote_points(struct mounts *mounts);

#endif
