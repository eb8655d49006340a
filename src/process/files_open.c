// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "base/own.h"
#include "process/files_internal.h"
#include "process/path.h"

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
 * True if one more file can be held, for which another that its path still leads to may have been
 * let go (in the order of the clock algorithm).
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

const struct file *files_resolve(const struct files *files, uint32_t id)
{
	const struct file *file = files->files[id];

	return file->same_as != FILE_NONE ? files->files[file->same_as] : file;
}

/* True if what was opened is the file; `growing`: it may have been written to since. */
static bool matches(const struct file *file, int fd, const struct stat *status, bool growing)
{
	if (!file->readable)
		return file_identity_has_build_id(fd, file->shown.build_id,
						  file->shown.build_id_size);
	return growing ? file_identity_same_inode(&file->identity, status)
		       : file_identity_matches(&file->identity, fd, status);
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

static int reopen(const struct files *files, uint32_t id, bool growing, struct stat *ret_status)
{
	const struct file *file;
	uint32_t roots[2];
	int result = -ENOENT;

	if (id >= files->n_files)
		return -EINVAL;
	file = files_resolve(files, id);
	if (!file->readable && !file->shown.build_id_size)
		return -ENOENT; /* nothing to recognize it by */
	roots[0] = file->root;
	roots[1] = ROOT_OWN;
	for (int i = -1; i < 2; i++) { /* -1: by the descriptor that is held */
		own(own_fd) int fd = -1;
		struct stat status;

		if (i < 0 ? file->fd < 0 : i == 1 && roots[1] == roots[0])
			continue;
		if (i < 0)
			fd = file_opener_open(files->access.opener, file->fd, file->kind,
					      FILE_WHOLE, &status);
		else
			fd = open_in_root(files, file, roots[i], &status);
		if (i < 0 && fd == -ETIMEDOUT)
			return fd;
		if (fd < 0)
			continue;
		if (matches(file, fd, &status, growing)) {
			*ret_status = status;
			return take_fd(&fd);
		}
		result = -ESTALE;
	}
	return result;
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
