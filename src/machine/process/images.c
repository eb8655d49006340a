// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/images.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/own.h"
#include "process/images_internal.h"

/* Of the outlines of files: reading one takes some microseconds. */
static const struct confined_limits limits = {
	.call_ns = NS_PER_SECOND,
	.owner_ns = 500 * NS_PER_MS,
	.others_ns = NS_PER_SECOND,
	.renew_ns = 60 * NS_PER_SECOND,
	.answers = 64 << 20,
	.bytes = 64 << 20,
};

static int make_parts(struct images *images, uint32_t hold_files)
{
	struct snapshot_context *context = &images->context;
	int r;

	images->lock = malloc(sizeof(*images->lock));
	if (!images->lock)
		return -ENOMEM;
	pthread_mutex_init(images->lock, NULL);
	context->buffer = malloc(SNAPSHOT_BUFFER);
	if (!context->buffer)
		return -ENOMEM;
	r = pool_new(&context->pool);
	if (r < 0)
		return r;
	r = file_opener_new(&context->opener);
	if (r < 0)
		return r;
	r = roots_new(context->opener, &context->roots);
	if (r < 0)
		return r;
	r = confined_new(&limits, &context->readers);
	if (r < 0)
		return r;
	r = containers_new(context->roots, context->opener, context->readers, &images->containers);
	if (r < 0)
		return r;
	r = cgroups_new(images->containers, &images->cgroups);
	if (r < 0)
		return r;
	return files_new(hold_files,
			 &(struct file_access){ .roots = context->roots,
						.opener = context->opener,
						.readers = context->readers },
			 &context->files);
}

int images_new(const struct images_options *options, struct images **ret_images)
{
	struct images *images = calloc(1, sizeof(*images));
	int r;

	if (!images)
		return -ENOMEM;
	images->n_ids = 1; /* IMAGE_NONE */
	r = make_parts(images, options ? options->hold_files : 0);
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
	containers_free(images->containers);
	free(images->ids);
	files_free(images->context.files);
	roots_free(images->context.roots);
	file_opener_free(images->context.opener);
	confined_free(images->context.readers);
	pool_free(images->context.pool);
	free(images->context.buffer);
	if (images->lock)
		pthread_mutex_destroy(images->lock);
	free(images->lock);
	free(images);
}

void images_set_marker(struct images *images, file_marker *marker)
{
	files_set_marker(images->context.files, marker);
}

void images_rest(struct images *images)
{
	confined_retire(images->context.readers);
	file_opener_rest(images->context.opener);
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

const struct image *images_by_id(const struct images *images, uint32_t id)
{
	return id != IMAGE_NONE && id < images->n_ids ? images->ids[id] : NULL;
}

const struct mapping *images_find(const struct images *images, uint32_t id, uint64_t address)
{
	const struct image *image = images_by_id(images, id);

	return image ? mappings_find(image->mappings, address) : NULL;
}

pid_t images_tgid(const struct images *images, uint32_t id)
{
	const struct image *image = images_by_id(images, id);

	return image ? image->space->tgid : 0;
}

/* The space in which a process is now, or NULL. */
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
	const struct image *image = images_by_id(images, id);

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

void images_notify_changed(const struct images *images, const struct space *space)
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
			images->bytes -= sizeof(*image) + sizeof(*image->space) +
					 (uint64_t)image->n * sizeof(struct mapping);
			image->id = IMAGE_NONE;
			image->n = 0;
			image->space->n_ids--;
		}
	}
	images->n_ids = n;
	spaces_sweep(&images->spaces);
}

void images_release_files(struct images *images)
{
	struct files *files = images->context.files;
	own(own_free) bool *used = NULL;

	if (images->drained < images->next_release)
		return;
	images->next_release = images->drained + NS_PER_SECOND;
	used = calloc((size_t)files_n(files) + 1, sizeof(*used));
	if (!used)
		return; /* the next time */
	spaces_mark_files(&images->spaces, used);
	files_release(files, used);
}

uint64_t images_bytes(const struct images *images)
{
	return images->bytes;
}

void images_set_full(struct images *images, bool full)
{
	images->full = full;
}

uint32_t images_n_files(const struct images *images)
{
	return files_n(images->context.files);
}

const struct mapped_file *images_file(const struct images *images, uint32_t file)
{
	return files_get(images->context.files, file);
}

uint32_t images_file_resolved(const struct images *images, uint32_t file)
{
	return files_resolved(images->context.files, file);
}

bool images_file_is_readable(const struct images *images, uint32_t file)
{
	return files_is_readable(images->context.files, file);
}

int images_open_file(const struct images *images, uint32_t file)
{
	return files_open(images->context.files, file);
}

int images_open_path(const struct images *images, const char *path, struct stat *ret_status)
{
	return files_open_path(images->context.files, path, ret_status);
}

int images_open_beside(const struct images *images, uint32_t file, const char *path,
		       struct stat *ret_status)
{
	return files_open_beside(images->context.files, file, path, ret_status);
}

bool images_file_is_shared(const struct images *images, uint32_t file)
{
	return files_is_shared(images->context.files, file);
}

int images_file_segments(const struct images *images, uint32_t file,
			 struct load_segments *ret_segments)
{
	return files_segments(images->context.files, file, ret_segments);
}

int images_learn_cgroup(struct images *images, uint64_t id)
{
	return cgroups_learn(images->cgroups, id);
}

uint32_t images_n_late_containers(const struct images *images)
{
	return containers_n_late(images->containers);
}

int images_walk_cgroups(struct images *images, bool names, images_visit_cgroup *visit,
			void *context)
{
	own(own_free) uint64_t *ids = NULL;
	uint32_t n;
	int r = cgroups_walk(images->cgroups, names, &ids, &n);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < n; i++)
		visit(context, cgroups_get(images->cgroups, ids[i]));
	return 0;
}

const struct names_cgroup *images_cgroup(const struct images *images, uint64_t id)
{
	return cgroups_get(images->cgroups, id);
}

const char *images_late_file(const struct images *images, uint32_t *ret_n)
{
	return file_opener_late(images->context.opener, ret_n);
}

const struct images_losses *images_losses(const struct images *images)
{
	return &images->losses;
}

/* Each image that shares a list counts for a part of it, so that every list counts once. */
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
		.sampled = images->n_ids - 1,
		.mappings = (uint64_t)(mappings + 0.5),
		.files = files_n(images->context.files),
		.files_held = files_n_held(images->context.files),
	};
}
