// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "process/images_internal.h"

/* Only the user of the process and root may name its code. */
static bool is_trusted(const struct stat *status, const struct space *space)
{
	return status->st_uid == 0 ||
	       (space->identity_known && status->st_uid == space->identity.uid);
}

/* Opens a file of a directory. `local`: no mount on the way to it is remote. */
static int open_trusted(struct file_opener *opener, int directory, const char *name, bool local,
			const struct space *space)
{
	own(own_fd) int path = -1, fd = -1;
	struct stat status;

	if (directory < 0)
		return -ENOENT;
	path = file_opener_resolve(opener, directory, name, false, local);
	if (path < 0)
		return take_fd(&path);
	fd = file_opener_open(opener, path, file_opener_mount_kind(opener, path, -1), FILE_WHOLE,
			      &status);
	if (fd < 0)
		return fd;
	return is_trusted(&status, space) ? take_fd(&fd) : -EPERM;
}

/* Opens a file of the /tmp that the process has now, if it is alive. */
static int open_in_live_tmp(const struct snapshot_context *context, const struct space *space,
			    const char *name)
{
	bool local = roots_path_is_local(context->roots, space->root, "tmp");
	own(process_view_close) struct process_view view = PROCESS_VIEW_NONE;
	own(own_fd) int tmp = -1;
	struct process_identity identity;
	int r = process_view_open(space->tgid, &view);

	if (r < 0)
		return r;
	r = process_view_identity(&view, &identity);
	if (r < 0)
		return r;
	if (space->identity_known && identity.start_time != space->identity.start_time)
		return -ESRCH; /* another process has the id now */
	tmp = file_opener_resolve(context->opener, view.root, "tmp", true, local);
	return open_trusted(context->opener, tmp, name, local, space);
}

/* Opens a file of the /tmp of a root that is kept. */
static int open_in_kept_tmp(const struct snapshot_context *context, const struct space *space,
			    uint32_t root, const char *name)
{
	return open_trusted(context->opener, roots_tmp(context->roots, root), name,
			    roots_path_is_local(context->roots, root, "tmp"), space);
}

/* A process maps a page of its jitdump file for execution, as a mark for `perf record`. */
static int open_mapped_dump(const struct images *images, const struct image *image,
			    const char *name)
{
	for (uint32_t i = 0; i < image->mappings->n; i++) {
		const struct mapping *mapping = &image->mappings->at[i];
		const char *slash = strrchr(mapping->name, '/');
		own(own_fd) int fd = -1;
		struct stat status;

		if (mapping->kind != MAPPING_FILE || !slash || strcmp(slash + 1, name) != 0)
			continue;
		fd = files_open_growing(images->context.files, mapping->file, &status);
		if (fd < 0)
			return -ENOENT;
		return is_trusted(&status, image->space) ? take_fd(&fd) : -EPERM;
	}
	return -ENOENT;
}

static void name_file(enum jit_file kind, pid_t pid, char name[32])
{
	snprintf(name, 32, kind == JIT_FILE_PERF_MAP ? "perf-%d.map" : "jit-%d.dump", (int)pid);
}

int images_open_jit_of(const struct images *images, const struct image *image, enum jit_file kind)
{
	const struct snapshot_context *context = &images->context;
	const struct space *space;
	char inner[32], outer[32]; /* by the process's id in its own pid namespace, and in ours */
	int fd = -ENOENT;

	space = image->space;
	name_file(kind, space->tgid, outer);
	name_file(kind, space->identity.innermost ? space->identity.innermost : space->tgid, inner);
	if (kind == JIT_FILE_JITDUMP)
		fd = open_mapped_dump(images, image, inner);
	if (fd == -ENOENT)
		fd = open_in_live_tmp(context, space, inner);
	if (fd == -ENOENT || fd == -ESRCH)
		fd = open_in_kept_tmp(context, space, space->root, inner);
	if (fd == -ENOENT)
		fd = open_in_kept_tmp(context, space, ROOT_OWN, outer);
	return fd;
}

int images_open_jit(const struct images *images, uint32_t id, enum jit_file kind)
{
	const struct image *image = images_by_id(images, id);

	return image ? images_open_jit_of(images, image, kind) : -ESRCH;
}
