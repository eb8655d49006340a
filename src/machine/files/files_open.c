// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "base/own.h"
#include "files/files_internal.h"

static bool is_reachable(const struct files *files, const struct file *file)
{
	const struct file_way way = roots_way(files->access.roots, ROOT_OWN, file->shown.path);
	struct stat status;

	return file_opener_look(files->access.opener, &way, &status) == 0 &&
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
		if (file->held.fd < 0 || !file->reachable)
			continue;
		file->reachable = is_reachable(files, file);
		if (!file->reachable)
			continue; /* replaced meanwhile: only the descriptor leads to it */
		close(take_fd(&file->held.fd));
		files->n_held--;
		return true;
	}
	return false;
}

void files_hold(struct files *files, struct file *file, const struct file_place *place)
{
	struct found_file found = place->found;

	if (file->held.fd >= 0 || !make_room(files)) {
		own_fd(&found.fd);
		return;
	}
	file->held = found;
	file->reachable = found.kind == MOUNT_LOCAL && !file->shown.deleted;
	files->n_held++;
}

void files_release(struct files *files, bool *used)
{
	for (uint32_t i = 0; i < files->n_files; i++)
		if (used[i] && files->files[i]->same_as != FILE_NONE)
			used[files->files[i]->same_as] = true;
	for (uint32_t i = 0; i < files->n_files; i++) {
		struct file *file = files->files[i];

		if (file->held.fd < 0 || used[i])
			continue;
		close(take_fd(&file->held.fd));
		files->n_held--;
	}
}

const struct file *files_resolve(const struct files *files, uint32_t id)
{
	const struct file *file = files->files[id];

	return file->same_as != FILE_NONE ? files->files[file->same_as] : file;
}

/* A file that is to be opened again; `growing`: it may have been written to since. */
struct reopening {
	const struct files *files;
	const struct file *file;
	bool growing;
	enum file_extent extent;
};

static int judge(void *context, int fd, const struct stat *status, bool copy)
{
	const struct reopening *is = context;
	const struct file_identity *identity = &is->file->identity;
	bool same = is->growing ? file_identity_same_inode(identity, status)
				: file_identity_matches(identity, is->files->access.readers, fd,
							status);

	(void)copy;
	return same ? 0 : -ESTALE;
}

static int open_in_root(const struct reopening *is, uint32_t root, struct stat *ret_status)
{
	const struct file_access *access = &is->files->access;
	const struct file_way way = roots_way(access->roots, root, is->file->shown.path);
	const struct file_check check = { judge, (void *)is };

	return file_opener_open(access->opener, &way, is->extent, &check, ret_status, NULL);
}

/* The ways to a file, in the order in which they are tried. */
enum way { WAY_HELD, WAY_ITS_ROOT, WAY_OWN_ROOT, N_WAYS };

static int open_by(const struct reopening *is, enum way way, struct stat *ret_status)
{
	const struct file_check check = { judge, (void *)is };

	if (way == WAY_ITS_ROOT)
		return open_in_root(is, is->file->root, ret_status);
	if (way == WAY_OWN_ROOT && is->file->root != ROOT_OWN)
		return open_in_root(is, ROOT_OWN, ret_status);
	if (way == WAY_HELD && is->file->held.fd >= 0)
		return file_opener_reopen(is->files->access.opener, &is->file->held, is->extent,
					  &check, ret_status);
	return -ENOENT;
}

static int reopen(const struct files *files, uint32_t id, bool growing, enum file_extent extent,
		  struct stat *ret_status)
{
	struct reopening is = { .files = files, .growing = growing, .extent = extent };
	int result = -ENOENT;

	if (id >= files->n_files)
		return -EINVAL;
	is.file = files_resolve(files, id);
	if (!is.file->readable)
		return -ENOENT; /* nothing to recognize it by */
	for (enum way way = 0; way < N_WAYS; way++) {
		int fd = open_by(&is, way, ret_status);

		if (fd >= 0 || (way == WAY_HELD && fd == -ETIMEDOUT))
			return fd;
		if (fd == -ESTALE)
			result = fd;
	}
	return result;
}

/* Links lead to what is in that root, and nowhere else. */
static int open_path(const struct files *files, uint32_t root, const char *path,
		     struct stat *ret_status)
{
	struct file_way way = roots_way(files->access.roots, root, path);

	way.links = LINKS_ANYWHERE;
	return file_opener_open(files->access.opener, &way, FILE_WHOLE, NULL, ret_status, NULL);
}

int files_open_path(const struct files *files, const char *path, struct stat *ret_status)
{
	return open_path(files, ROOT_OWN, path, ret_status);
}

bool files_is_shared(const struct files *files, uint32_t file)
{
	return file >= files->n_files || files_resolve(files, file)->shared;
}

int files_open_beside(const struct files *files, uint32_t file, const char *path,
		      struct stat *ret_status)
{
	if (files_is_shared(files, file) || files_resolve(files, file)->mapped_in == ROOT_OWN)
		return -ENOENT;
	return open_path(files, files_resolve(files, file)->mapped_in, path, ret_status);
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

	return reopen(files, file, false, FILE_WHOLE, &status);
}

int files_open_growing(const struct files *files, uint32_t file, enum file_extent extent,
		       struct stat *ret_status)
{
	return reopen(files, file, true, extent, ret_status);
}
