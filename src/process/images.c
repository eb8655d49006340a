// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/images.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "process/images_internal.h"

int images_new(const struct images_options *options, struct images **ret_images)
{
	struct images *images = calloc(1, sizeof(*images));
	uint32_t hold = options ? options->hold_files : 0;
	int r;

	if (!images)
		return -ENOMEM;
	images->n_ids = 1; /* IMAGE_NONE */
	images->capture.buffer = malloc(CAPTURE_BUFFER);
	images->lock = malloc(sizeof(*images->lock));
	if (images->lock)
		pthread_mutex_init(images->lock, NULL);
	r = images->capture.buffer && images->lock ? pool_new(&images->capture.pool) : -ENOMEM;
	if (r == 0)
		r = answering_new(&images->capture.answering);
	if (r == 0)
		r = roots_new(images->capture.answering, &images->capture.roots);
	if (r == 0)
		r = cgroups_new(&images->cgroups);
	if (r == 0)
		r = files_new(hold, images->capture.roots, images->capture.answering,
			      &images->capture.files);
	if (r < 0) {
		images_free(images);
		return r;
	}
	*ret_images = images;
	return 0;
}

void images_free(struct images *images)
{
	if (!images)
		return;
	spaces_clear(&images->spaces);
	cgroups_free(images->cgroups);
	free(images->ids);
	files_free(images->capture.files);
	roots_free(images->capture.roots);
	answering_free(images->capture.answering);
	pool_free(images->capture.pool);
	free(images->capture.buffer);
	if (images->lock)
		pthread_mutex_destroy(images->lock);
	free(images->lock);
	free(images);
}

void images_lock(const struct images *images)
{
	if (images)
		pthread_mutex_lock(images->lock);
}

void images_unlock(const struct images *images)
{
	if (images)
		pthread_mutex_unlock(images->lock);
}

static const struct image *by_id(const struct images *images, uint32_t id)
{
	return id != IMAGE_NONE && id < images->n_ids ? images->ids[id] : NULL;
}

const struct mapping *images_find(const struct images *images, uint32_t id, uint64_t address)
{
	const struct image *image = by_id(images, id);

	return image ? mappings_find(image->mappings, address) : NULL;
}

pid_t images_tgid(const struct images *images, uint32_t id)
{
	const struct image *image = by_id(images, id);

	return image ? image->space->tgid : 0;
}

/* What a process has now, or NULL. */
static const struct space *current(const struct images *images, pid_t tgid)
{
	const struct space *space = spaces_at(&images->spaces, tgid, UINT64_MAX);

	return space && !space->until && space->newest ? space : NULL;
}

const struct mapping *images_current(const struct images *images, pid_t tgid, uint32_t *ret_n)
{
	const struct space *space = current(images, tgid);

	if (!space)
		return NULL;
	*ret_n = space->newest->mappings->n;
	return space->newest->mappings->at;
}

const struct mapping *images_mappings(const struct images *images, uint32_t id, uint32_t *ret_n)
{
	const struct image *image = by_id(images, id);

	if (!image || !image->mappings)
		return NULL;
	*ret_n = image->mappings->n;
	return image->mappings->at;
}

void images_set_watch(struct images *images, const struct images_watch *watch)
{
	images->watch = watch ? *watch : (struct images_watch){ 0 };
}

void images_each(const struct images *images, void (*each)(void *context, pid_t tgid),
		 void *context)
{
	for (uint32_t i = 0; i < SPACE_BUCKETS; i++) {
		const struct space *space = images->spaces.buckets[i];

		for (; space; space = space->older) {
			if (current(images, space->tgid) == space)
				each(context, space->tgid);
		}
	}
}

void images_tell_changed(const struct images *images, const struct space *space)
{
	if (images->watch.changed && current(images, space->tgid) == space)
		images->watch.changed(images->watch.context, space->tgid);
}

void images_retire(struct images *images, struct space *space, uint64_t time)
{
	bool was_current = current(images, space->tgid) == space;

	spaces_retire(&images->spaces, space, time);
	if (was_current && images->watch.ended)
		images->watch.ended(images->watch.context, space->tgid);
}

uint32_t images_n(const struct images *images)
{
	return images->n_ids;
}

void images_forget(struct images *images, uint32_t *ids)
{
	uint32_t n = 1;

	ids[IMAGE_NONE] = IMAGE_NONE;
	for (uint32_t id = 1; id < images->n_ids; id++) {
		struct image *image = images->ids[id];

		if (ids[id]) {
			ids[id] = image->id = n;
			images->ids[n++] = image;
		} else {
			image->id = IMAGE_NONE;
			image->space->n_asked--;
		}
	}
	images->n_ids = n;
	spaces_sweep(&images->spaces);
}

uint32_t images_n_files(const struct images *images)
{
	return files_n(images->capture.files);
}

const struct mapped_file *images_file(const struct images *images, uint32_t file)
{
	return files_get(images->capture.files, file);
}

int images_open_file(const struct images *images, uint32_t file)
{
	return files_open(images->capture.files, file);
}

int images_learn_cgroup(struct images *images, uint64_t id)
{
	return cgroups_learn(images->cgroups, id);
}

const char *images_cgroup(const struct images *images, uint64_t id)
{
	return cgroups_path(images->cgroups, id);
}

const struct images_losses *images_losses(const struct images *images)
{
	return &images->losses;
}

/* Of a list that several have, each has its part: so all is counted once. */
void images_size(const struct images *images, struct images_size *ret_size)
{
	double mappings = 0;

	for (uint32_t i = 0; i < SPACE_BUCKETS; i++) {
		const struct space *space = images->spaces.buckets[i];

		for (; space; space = space->older) {
			for (const struct image *image = space->newest; image; image = image->older)
				mappings +=
					(double)image->mappings->n / image->mappings->references;
		}
	}
	*ret_size = (struct images_size){
		.spaces = images->spaces.n,
		.asked = images->n_ids - 1,
		.mappings = (uint64_t)(mappings + 0.5),
		.files = files_n(images->capture.files),
		.files_held = files_n_held(images->capture.files),
	};
}

/* Who wrote a map of names is believed only if it is the process's user or root. */
static bool is_trusted(const struct stat *status, const struct space *space)
{
	return status->st_uid == 0 ||
	       (space->identity_known && status->st_uid == space->identity.uid);
}

static int open_trusted(struct answering *answering, int directory, const char *name, bool local,
			const struct space *space)
{
	own(own_fd) int place = -1, fd = -1;
	struct stat status;

	if (directory < 0)
		return -ENOENT;
	place = answering_place(answering, directory, name, false, local);
	if (place < 0)
		return take_fd(&place);
	fd = answering_open(answering, place, answering_kind(answering, place, -1), ANSWERING_WHOLE,
			    &status);
	if (fd < 0)
		return fd;
	return is_trusted(&status, space) ? take_fd(&fd) : -EPERM;
}

/* In the /tmp the process sees now, if it still lives. */
static int open_in_live_tmp(struct answering *answering, const struct roots *roots,
			    const struct space *space, const char *name)
{
	bool local = roots_path_is_local(roots, space->root, "tmp");
	struct process_view view = PROCESS_VIEW_NONE;
	struct process_identity identity;
	int r = view_open(space->tgid, &view);

	if (r < 0)
		return r;
	r = view_identity(&view, &identity);
	if (r == 0 && space->identity_known && identity.start_time != space->identity.start_time)
		r = -ESRCH; /* another process has the id now */
	if (r == 0) {
		own(own_fd) int tmp = answering_place(answering, view.root, "tmp", true, local);

		r = open_trusted(answering, tmp, name, local, space);
	}
	view_close(&view);
	return r;
}

/* A jitdump file gives itself away: the process maps a page of it for execution. */
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
		fd = files_open_growing(images->capture.files, mapping->file, &status);
		if (fd < 0)
			return -ENOENT;
		return is_trusted(&status, image->space) ? take_fd(&fd) : -EPERM;
	}
	return -ENOENT;
}

int images_open_jit(const struct images *images, uint32_t id, const char *kind)
{
	const struct image *image = by_id(images, id);
	const struct roots *roots = images->capture.roots;
	struct answering *answering = images->capture.answering;
	bool map = strcmp(kind, "map") == 0;
	const struct space *space;
	char inner[32], outer[32];
	int fd;

	if (!image)
		return -ESRCH;
	space = image->space;
	snprintf(outer, sizeof(outer), map ? "perf-%d.map" : "jit-%d.dump", (int)space->tgid);
	snprintf(inner, sizeof(inner), map ? "perf-%d.map" : "jit-%d.dump",
		 (int)(space->identity.innermost ? space->identity.innermost : space->tgid));
	fd = map ? -ENOENT : open_mapped_dump(images, image, inner);
	if (fd == -ENOENT)
		fd = open_in_live_tmp(answering, roots, space, inner);
	if (fd == -ENOENT || fd == -ESRCH)
		fd = open_trusted(answering, roots_tmp(roots, space->root), inner,
				  roots_path_is_local(roots, space->root, "tmp"), space);
	if (fd == -ENOENT)
		fd = open_trusted(answering, roots_tmp(roots, ROOT_OWN), outer,
				  roots_path_is_local(roots, ROOT_OWN, "tmp"), space);
	return fd;
}
