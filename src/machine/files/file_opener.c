// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/own.h"
#include "files/file_opener_internal.h"
#include "files/path.h"

int file_opener_new(struct file_opener **ret_opener)
{
	own(own_free) struct file_opener *opener = calloc(1, sizeof(*opener));
	int r = opener ? mounts_new(&opener->mounts) : -ENOMEM;

	if (r < 0)
		return r;
	*ret_opener = take_ptr(opener);
	return 0;
}

void file_opener_free(struct file_opener *opener)
{
	if (!opener)
		return;
	file_opener_rest(opener);
	file_opener_reap(opener);
	mounts_free(opener->mounts);
	free(opener);
}

struct mounts *file_opener_mounts(const struct file_opener *opener)
{
	return opener->mounts;
}

/* The child resolves the path, however long that takes it. */
static int find_by_child(struct file_opener *opener, const struct file_way *way)
{
	const struct opening job = { .fd = way->directory,
				     .path = way->path,
				     .follow = way->links != LINKS_REFUSED,
				     .copy = -1 };
	struct file_reply reply;
	int r = file_opener_run(opener, &job, &reply);

	return r < 0 ? r : reply.found;
}

int file_opener_find(struct file_opener *opener, const struct file_way *way)
{
	int found;

	if (way->directory < 0)
		return -ENOENT;
	if (!way->path) {
		found = fcntl(way->directory, F_DUPFD_CLOEXEC, 3);
		return found < 0 ? -errno : found;
	}
	if (!mountinfo_path_is_local(way->remote, way->within ? way->within : way->path))
		return way->at_once ? -EREMOTE : find_by_child(opener, way);
	found = path_resolve(way->directory, way->path, way->links == LINKS_FOLLOWED);
	return found == -ELOOP && way->links == LINKS_ANYWHERE ? find_by_child(opener, way) : found;
}

int file_opener_look(struct file_opener *opener, const struct file_way *way,
		     struct stat *ret_status)
{
	own(own_fd) int path = file_opener_find(opener, way);

	if (path < 0)
		return path;
	if (mounts_kind(opener->mounts, path, way->process_dir) != MOUNT_LOCAL)
		return -EREMOTE;
	return path_stat_cached(path, ret_status);
}

int file_opener_look_again(const struct found_file *found, struct stat *ret_status)
{
	if (found->fd < 0)
		return -ENOENT;
	if (found->kind == MOUNT_UNKNOWN)
		return -EREMOTE;
	return path_stat_cached(found->fd, ret_status);
}

/* A copy of the file, in memory. */
static int copy_file(struct file_opener *opener, int path_fd, enum file_extent extent,
		     struct stat *ret_status)
{
	own(own_fd) int copy = memfd_create("copy", MFD_CLOEXEC);
	const struct opening job = { .fd = path_fd, .extent = extent, .copy = copy };
	struct file_reply reply;
	int r;

	if (copy < 0)
		return -errno;
	r = file_opener_run(opener, &job, &reply);
	if (r < 0)
		return r;
	if (!reply.status.st_mode)
		return -EIO;
	*ret_status = reply.status;
	return take_fd(&copy);
}

int file_opener_reopen(struct file_opener *opener, const struct found_file *found,
		       enum file_extent extent, const struct file_check *check,
		       struct stat *ret_status)
{
	bool local = found->kind == MOUNT_LOCAL;
	struct stat status;
	own(own_fd) int fd =
		local ? path_open_regular(fcntl(found->fd, F_DUPFD_CLOEXEC, 3), &status)
		      : copy_file(opener, found->fd, extent, &status);
	int r;

	if (fd < 0)
		return fd;
	r = check ? check->judge(check->context, fd, &status, !local) : 0;
	if (r < 0)
		return r;
	*ret_status = status;
	return take_fd(&fd);
}

int file_opener_open(struct file_opener *opener, const struct file_way *way,
		     enum file_extent extent, const struct file_check *check,
		     struct stat *ret_status, struct found_file *ret_found)
{
	own(own_fd) int path = file_opener_find(opener, way);
	struct found_file found = { .fd = path };
	int fd;

	if (path < 0)
		return path;
	found.kind = mounts_kind(opener->mounts, path, way->process_dir);
	fd = file_opener_reopen(opener, &found, extent, check, ret_status);
	if (fd >= 0 && ret_found) {
		*ret_found = found;
		take_fd(&path);
	}
	return fd;
}
