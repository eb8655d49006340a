// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "process/images_internal.h"

/* Only the user of the process and root may name its code. */
static int judge(void *context, int fd, const struct stat *status, bool copy)
{
	const struct space *space = context;

	(void)fd, (void)copy;
	return status->st_uid == 0 ||
			       (space->identity_known && status->st_uid == space->identity.uid)
		       ? 0
		       : -EPERM;
}

static int open_trusted(const struct snapshot_context *context, const struct file_way *way,
			const struct space *space)
{
	const struct file_check check = { judge, (void *)space };
	struct stat status;

	return file_opener_open(context->opener, way, FILE_WHOLE, &check, &status, NULL);
}

/* Opens a file of the /tmp that the process has now, if it is alive. */
static int open_in_live_tmp(const struct snapshot_context *context, const struct space *space,
			    const char *name)
{
	struct file_way way = roots_way(context->roots, space->root, "tmp");
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
	way.directory = view.root;
	tmp = file_opener_find(context->opener, &way);
	way = roots_way_in_tmp(context->roots, space->root, name);
	way.directory = tmp;
	return open_trusted(context, &way, space);
}

/* Opens a file of the /tmp of a root that is kept. */
static int open_in_kept_tmp(const struct snapshot_context *context, const struct space *space,
			    uint32_t root, const char *name)
{
	const struct file_way way = roots_way_in_tmp(context->roots, root, name);

	return open_trusted(context, &way, space);
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
		int r;

		if (mapping->kind != MAPPING_FILE || !slash || strcmp(slash + 1, name) != 0)
			continue;
		fd = files_open_growing(images->context.files, mapping->file, &status);
		if (fd < 0)
			return -ENOENT;
		r = judge(image->space, fd, &status, false);
		return r < 0 ? r : take_fd(&fd);
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
