// SPDX-License-Identifier: GPL-2.0-or-later
#include "files/path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "base/own.h"

#define MAX_TRIES 8

int path_resolve(int root, const char *path, bool follow)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS |
			   (follow ? 0 : RESOLVE_NO_SYMLINKS),
	};
	long r = -1;

	/* -EAGAIN: a rename raced with a "..", so the kernel cannot tell whether it left the root.
	 */
	for (int tries = 0; tries < MAX_TRIES; tries++) {
		r = syscall(SYS_openat2, root, path, &how, sizeof(how));
		if (r >= 0 || errno != EAGAIN)
			break;
	}
	return r < 0 ? -errno : (int)r;
}

int path_stat_cached(int path_fd, struct stat *ret_status)
{
	struct statx status;

	if (statx(path_fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &status) < 0)
		return -errno;
	*ret_status = (struct stat){
		.st_dev = makedev(status.stx_dev_major, status.stx_dev_minor),
		.st_ino = status.stx_ino,
		.st_mode = status.stx_mode,
		.st_uid = status.stx_uid,
		.st_size = (off_t)status.stx_size,
		.st_mtim = { status.stx_mtime.tv_sec, status.stx_mtime.tv_nsec },
	};
	return 0;
}

int path_stat_link(const char *link, struct stat *ret_status)
{
	own(own_fd) int fd = open(link, O_PATH | O_CLOEXEC);

	return fd < 0 ? -errno : path_stat_cached(fd, ret_status);
}

int path_open_regular(int path_fd, struct stat *ret_status)
{
	own(own_fd) int path = path_fd;
	char name[40];
	struct stat status;
	int fd;

	if (fstat(path, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	/* The O_PATH descriptor pins the inode, so this opens the file that was examined. */
	snprintf(name, sizeof(name), "/proc/self/fd/%d", path);
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	*ret_status = status;
	return fd;
}
