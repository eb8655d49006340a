// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "process/images_internal.h"

/* What is wanted of such a file: it, or its status, for which a remote one is not copied. */
struct asking_jit {
	const struct space *space;
	bool status_only;   /* 0 in place of a descriptor */
	struct stat status; /* also of another user's file */
};

/* Only the user of the process and root may name its code. */
static int judge(void *context, int fd, const struct stat *status, bool copy)
{
	struct asking_jit *asking = context;
	const struct space *space = asking->space;

	(void)fd, (void)copy;
	asking->status = *status;
	if (!S_ISREG(status->st_mode))
		return -EINVAL;
	return status->st_uid == 0 ||
			       (space->identity_known && status->st_uid == space->identity.uid)
		       ? 0
		       : -EPERM;
}

static int open_trusted(const struct snapshot_context *context, const struct file_way *way,
			struct asking_jit *asking)
{
	const struct file_check check = { judge, asking };
	enum file_extent extent = asking->status_only ? FILE_HEAD : FILE_WHOLE;
	own(own_fd) int fd = -1;
	struct stat status;
	int r = asking->status_only ? file_opener_look(context->opener, way, &status) : -EREMOTE;

	if (r == 0)
		return judge(asking, -1, &status, false);
	if (r != -EREMOTE)
		return r;
	fd = file_opener_open(context->opener, way, extent, &check, &status, NULL);
	return fd < 0 || !asking->status_only ? take_fd(&fd) : 0;
}

/* Opens a file of the /tmp that the process has now, if it is alive. */
static int open_in_live_tmp(const struct snapshot_context *context, struct asking_jit *asking,
			    const char *name)
{
	const struct space *space = asking->space;
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
	return open_trusted(context, &way, asking);
}

/* Opens a file of the /tmp of a root that is kept. */
static int open_in_kept_tmp(const struct snapshot_context *context, struct asking_jit *asking,
			    uint32_t root, const char *name)
{
	const struct file_way way = roots_way_in_tmp(context->roots, root, name);

	return open_trusted(context, &way, asking);
}

/* A process maps a page of its jitdump file for execution, as a mark for `perf record`. */
static int open_mapped_dump(const struct images *images, const struct image *image,
			    struct asking_jit *asking, const char *name)
{
	enum file_extent extent = asking->status_only ? FILE_HEAD : FILE_WHOLE;

	for (uint32_t i = 0; i < image->mappings->n; i++) {
		const struct mapping *mapping = &image->mappings->at[i];
		const char *slash = strrchr(mapping->name, '/');
		own(own_fd) int fd = -1;
		struct stat status;
		int r;

		if (mapping->kind != MAPPING_FILE || !slash || strcmp(slash + 1, name) != 0)
			continue;
		fd = files_open_growing(images->context.files, mapping->file, extent, &status);
		if (fd < 0)
			return -ENOENT;
		r = judge(asking, fd, &status, false);
		return r < 0 || asking->status_only ? r : take_fd(&fd);
	}
	return -ENOENT;
}

static void name_file(enum jit_file kind, pid_t pid, char name[32])
{
	snprintf(name, 32, kind == JIT_FILE_PERF_MAP ? "perf-%d.map" : "jit-%d.dump", (int)pid);
}

/* A descriptor, or 0 where only the status is wanted; or a negative errno. */
static int open_jit(const struct images *images, const struct image *image, enum jit_file kind,
		    struct asking_jit *asking)
{
	const struct snapshot_context *context = &images->context;
	const struct space *space = image->space;
	char inner[32], outer[32]; /* by the process's id in its own pid namespace, and in ours */
	int fd = -ENOENT;

	asking->space = space;
	name_file(kind, space->tgid, outer);
	name_file(kind, space->identity.innermost ? space->identity.innermost : space->tgid, inner);
	if (kind == JIT_FILE_JITDUMP)
		fd = open_mapped_dump(images, image, asking, inner);
	if (fd == -ENOENT)
		fd = open_in_live_tmp(context, asking, inner);
	if (fd == -ENOENT || fd == -ESRCH)
		fd = open_in_kept_tmp(context, asking, space->root, inner);
	if (fd == -ENOENT)
		fd = open_in_kept_tmp(context, asking, ROOT_OWN, outer);
	return fd;
}

int images_stat_jit_of(const struct images *images, const struct image *image, enum jit_file kind,
		       struct stat *ret_status)
{
	struct asking_jit asking = { .status_only = true };
	int r = open_jit(images, image, kind, &asking);

	if (r == 0 || r == -EPERM)
		*ret_status = asking.status;
	return r;
}

int images_stat_jit(const struct images *images, uint32_t id, enum jit_file kind,
		    struct stat *ret_status)
{
	const struct image *image = images_by_id(images, id);

	return image ? images_stat_jit_of(images, image, kind, ret_status) : -ESRCH;
}

int images_open_jit(const struct images *images, uint32_t id, enum jit_file kind)
{
	const struct image *image = images_by_id(images, id);
	struct asking_jit asking = { .status_only = false };

	return image ? open_jit(images, image, kind, &asking) : -ESRCH;
}
