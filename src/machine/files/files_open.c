// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "base/own.h"
#include "files/files_internal.h"
#include "files/path.h"

/* Resolves the file's path in a root: an O_PATH descriptor or a negative errno. */
static int resolve_in_root(const struct files *files, const struct file *file, uint32_t root)
{
	return file_opener_resolve(files->access.opener, roots_directory(files->access.roots, root),
				   file->shown.path, true,
				   roots_path_is_local(files->access.roots, root,
						       file->shown.path));
}

static bool is_reachable(const struct files *files, const struct file *file)
{
	own(own_fd) int path = resolve_in_root(files, file, ROOT_OWN);
	struct stat status;

	return path >= 0 && path_stat_cached(path, &status) == 0 &&
	       file_identity_same_inode(&file->identity, &status);
}

/*
 * Makes room to hold one more file: lets go of one that its path still leads to, by the clock
 * algorithm. False if there is none.
 */
static bool make_room(struct files *files)
{
	if (files->n_held < files->max_held)
		return true;
	for (uint32_t i = 0; i < files->n_files; i++) {
		struct file *file = files->files[files->clock_hand];

		files->clock_hand = (files->clock_hand + 1) % files->n_files;
		if (file->fd < 0 || !file->reachable)
			continue;
		file->reachable = is_reachable(files, file);
		if (!file->reachable)
			continue; /* replaced meanwhile: only the descriptor leads to it */
		close(take_fd(&file->fd));
		files->n_held--;
		return true;
	}
	return false;
}

void files_hold(struct files *files, struct file *file, struct file_place *place)
{
	own(own_fd) int fd = place->fd;

	if (file->fd >= 0 || !make_room(files))
		return;
	file->kind = place->kind;
	file->reachable = place->kind == MOUNT_LOCAL && !file->shown.deleted;
	file->fd = take_fd(&fd);
	files->n_held++;
}

void files_release(struct files *files, bool *used)
{
	for (uint32_t i = 0; i < files->n_files; i++)
		if (used[i] && files->files[i]->same_as != FILE_NONE)
			used[files->files[i]->same_as] = true;
	for (uint32_t i = 0; i < files->n_files; i++) {
		struct file *file = files->files[i];

		if (file->fd < 0 || used[i])
			continue;
		close(take_fd(&file->fd));
		files->n_held--;
	}
}

const struct file *files_resolve(const struct files *files, uint32_t id)
{
	const struct file *file = files->files[id];

	return file->same_as != FILE_NONE ? files->files[file->same_as] : file;
}

/* True if what was opened is the file; `growing`: it may have been written to since. */
static bool matches(const struct files *files, const struct file *file, int fd,
		    const struct stat *status, bool growing)
{
	return growing ? file_identity_same_inode(&file->identity, status)
		       : file_identity_matches(&file->identity, files->access.readers, fd, status);
}

/* Opens the file by its path in a root. */
static int open_in_root(const struct files *files, const struct file *file, uint32_t root,
			struct stat *ret_status)
{
	struct file_opener *opener = files->access.opener;
	own(own_fd) int path = resolve_in_root(files, file, root);

	if (path < 0)
		return path;
	return file_opener_open(opener, path, file_opener_mount_kind(opener, path, -1), FILE_WHOLE,
				ret_status);
}

/* The ways to a file, in the order in which they are tried. */
enum way { WAY_HELD, WAY_ITS_ROOT, WAY_OWN_ROOT, N_WAYS };

static int open_by(const struct files *files, const struct file *file, enum way way,
		   struct stat *ret_status)
{
	if (way == WAY_ITS_ROOT)
		return open_in_root(files, file, file->root, ret_status);
	if (way == WAY_OWN_ROOT && file->root != ROOT_OWN)
		return open_in_root(files, file, ROOT_OWN, ret_status);
	if (way == WAY_HELD && file->fd >= 0)
		return file_opener_open(files->access.opener, file->fd, file->kind, FILE_WHOLE,
					ret_status);
	return -ENOENT;
}

static int reopen(const struct files *files, uint32_t id, bool growing, struct stat *ret_status)
{
	const struct file *file;
	int result = -ENOENT;

	if (id >= files->n_files)
		return -EINVAL;
	file = files_resolve(files, id);
	if (!file->readable)
		return -ENOENT; /* nothing to recognize it by */
	for (enum way way = 0; way < N_WAYS; way++) {
		struct stat status;
		own(own_fd) int fd = open_by(files, file, way, &status);

		if (way == WAY_HELD && fd == -ETIMEDOUT)
			return fd;
		if (fd < 0)
			continue;
		if (matches(files, file, fd, &status, growing)) {
			*ret_status = status;
			return take_fd(&fd);
		}
		result = -ESTALE;
	}
	return result;
}

int files_open_path(const struct files *files, const char *path, struct stat *ret_status)
{
	struct file_opener *opener = files->access.opener;
	int root = roots_directory(files->access.roots, ROOT_OWN);
	own(own_fd) int found = -ELOOP;

	/* A symbolic link on the way may lead to any mount. */
	if (roots_path_is_local(files->access.roots, ROOT_OWN, path))
		found = path_resolve(root, path, false);
	if (found == -ELOOP)
		found = file_opener_resolve(opener, root, path, true, false);
	if (found < 0)
		return found;
	return file_opener_open(opener, found, file_opener_mount_kind(opener, found, -1),
				FILE_WHOLE, ret_status);
}

int files_segments(const struct files *files, uint32_t id, struct load_segments *ret_segments)
{
	const struct file *file = id < files->n_files ? files_resolve(files, id) : NULL;

	if (!file || !file->readable)
		return file ? -ENOENT : -EINVAL;
	*ret_segments = file->segments;
	return file->elf ? 0 : -ENOEXEC;
}

int files_open(const struct files *files, uint32_t file)
{
	struct stat status;

	return reopen(files, file, false, &status);
}

int files_open_growing(const struct files *files, uint32_t file, struct stat *ret_status)
{
	return reopen(files, file, true, ret_status);
}
