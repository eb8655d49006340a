/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Path lookup inside another root directory, and opening what was found: in two steps, so that a
 * FIFO, a device or a file of another process's choice is looked at before it is opened.
 *
 * These calls block as long as the file systems on the way do; file_opener.h does not.
 */
#ifndef STACKTALLY_FILES_PATH_H
#define STACKTALLY_FILES_PATH_H

#include <stdbool.h>
#include <sys/stat.h>

/*
 * An O_PATH descriptor of `path` below the directory descriptor `root`, which ".." and absolute
 * links do not leave (openat2(2), RESOLVE_IN_ROOT). Without `follow`, a symbolic link anywhere on
 * the way is an error. The caller closes it. A negative errno on failure.
 */
int path_resolve(int root, const char *path, bool follow);

/*
 * As fstat(2), from the attributes that the kernel has cached (AT_STATX_DONT_SYNC): most network
 * file systems are then not contacted. Only the fields that identify a file are set: device,
 * inode, mode, owner, size and mtime. 0 or a negative errno.
 */
int path_stat_cached(int path_fd, struct stat *ret_status);

/*
 * The same of what a link in /proc leads to, such as /proc/PID/exe: stat(2) would ask its file
 * system, which may not respond.
 */
int path_stat_link(const char *link, struct stat *ret_status);

/*
 * Opens the regular file that an O_PATH descriptor stands for and closes that descriptor, also on
 * failure. A descriptor (O_RDONLY, O_CLOEXEC) and the file's status, or a negative errno; -EINVAL:
 * not a regular file, which was not opened.
 */
int path_open_regular(int path_fd, struct stat *ret_status);

#endif
