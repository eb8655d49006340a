// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/worlds.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "process/worlds_internal.h"

int worlds_new(const struct worlds_options *options, struct worlds **ret_worlds)
{
	struct worlds *worlds = calloc(1, sizeof(*worlds));
	uint32_t hold = options ? options->hold_files : 0;
	int r;

	if (!worlds)
		return -ENOMEM;
	worlds->n_ids = 1; /* WORLD_NONE */
	worlds->capture.buffer = malloc(CAPTURE_BUFFER);
	worlds->lock = malloc(sizeof(*worlds->lock));
	if (worlds->lock)
		pthread_mutex_init(worlds->lock, NULL);
	r = worlds->capture.buffer && worlds->lock ? pool_new(&worlds->capture.pool) : -ENOMEM;
	if (r == 0)
		r = answering_new(&worlds->capture.answering);
	if (r == 0)
		r = roots_new(worlds->capture.answering, &worlds->capture.roots);
	if (r == 0)
		r = cgroups_new(&worlds->cgroups);
	if (r == 0)
		r = files_new(hold, worlds->capture.roots, worlds->capture.answering,
			      &worlds->capture.files);
	if (r < 0) {
		worlds_free(worlds);
		return r;
	}
	*ret_worlds = worlds;
	return 0;
}

void worlds_free(struct worlds *worlds)
{
	if (!worlds)
		return;
	spaces_clear(&worlds->spaces);
	cgroups_free(worlds->cgroups);
	free(worlds->ids);
	files_free(worlds->capture.files);
	roots_free(worlds->capture.roots);
	answering_free(worlds->capture.answering);
	pool_free(worlds->capture.pool);
	free(worlds->capture.buffer);
	if (worlds->lock)
		pthread_mutex_destroy(worlds->lock);
	free(worlds->lock);
	free(worlds);
}

void worlds_lock(const struct worlds *worlds)
{
	if (worlds)
		pthread_mutex_lock(worlds->lock);
}

void worlds_unlock(const struct worlds *worlds)
{
	if (worlds)
		pthread_mutex_unlock(worlds->lock);
}

static const struct world *by_id(const struct worlds *worlds, uint32_t id)
{
	return id != WORLD_NONE && id < worlds->n_ids ? worlds->ids[id] : NULL;
}

const struct mapping *worlds_find(const struct worlds *worlds, uint32_t id, uint64_t address)
{
	const struct world *world = by_id(worlds, id);

	return world ? mappings_find(world->mappings, address) : NULL;
}

pid_t worlds_tgid(const struct worlds *worlds, uint32_t id)
{
	const struct world *world = by_id(worlds, id);

	return world ? world->space->tgid : 0;
}

/* What a process has now, or NULL. */
static const struct space *current(const struct worlds *worlds, pid_t tgid)
{
	const struct space *space = spaces_at(&worlds->spaces, tgid, UINT64_MAX);

	return space && !space->until && space->newest ? space : NULL;
}

const struct mapping *worlds_current(const struct worlds *worlds, pid_t tgid, uint32_t *ret_n)
{
	const struct space *space = current(worlds, tgid);

	if (!space)
		return NULL;
	*ret_n = space->newest->mappings->n;
	return space->newest->mappings->at;
}

const struct mapping *worlds_mappings(const struct worlds *worlds, uint32_t id, uint32_t *ret_n)
{
	const struct world *world = by_id(worlds, id);

	if (!world || !world->mappings)
		return NULL;
	*ret_n = world->mappings->n;
	return world->mappings->at;
}

void worlds_set_watch(struct worlds *worlds, const struct worlds_watch *watch)
{
	worlds->watch = watch ? *watch : (struct worlds_watch){ 0 };
}

void worlds_each(const struct worlds *worlds, void (*each)(void *context, pid_t tgid),
		 void *context)
{
	for (uint32_t i = 0; i < SPACE_BUCKETS; i++) {
		const struct space *space = worlds->spaces.buckets[i];

		for (; space; space = space->older) {
			if (current(worlds, space->tgid) == space)
				each(context, space->tgid);
		}
	}
}

void worlds_tell_changed(const struct worlds *worlds, const struct space *space)
{
	if (worlds->watch.changed && current(worlds, space->tgid) == space)
		worlds->watch.changed(worlds->watch.context, space->tgid);
}

void worlds_retire(struct worlds *worlds, struct space *space, uint64_t time)
{
	bool was_current = current(worlds, space->tgid) == space;

	spaces_retire(&worlds->spaces, space, time);
	if (was_current && worlds->watch.ended)
		worlds->watch.ended(worlds->watch.context, space->tgid);
}

uint32_t worlds_n(const struct worlds *worlds)
{
	return worlds->n_ids;
}

void worlds_forget(struct worlds *worlds, uint32_t *ids)
{
	uint32_t n = 1;

	ids[WORLD_NONE] = WORLD_NONE;
	for (uint32_t id = 1; id < worlds->n_ids; id++) {
		struct world *world = worlds->ids[id];

		if (ids[id]) {
			ids[id] = world->id = n;
			worlds->ids[n++] = world;
		} else {
			world->id = WORLD_NONE;
			world->space->n_asked--;
		}
	}
	worlds->n_ids = n;
	spaces_sweep(&worlds->spaces);
}

uint32_t worlds_n_files(const struct worlds *worlds)
{
	return files_n(worlds->capture.files);
}

const struct mapped_file *worlds_file(const struct worlds *worlds, uint32_t file)
{
	return files_get(worlds->capture.files, file);
}

int worlds_open_file(const struct worlds *worlds, uint32_t file)
{
	return files_open(worlds->capture.files, file);
}

int worlds_learn_cgroup(struct worlds *worlds, uint64_t id)
{
	return cgroups_learn(worlds->cgroups, id);
}

const char *worlds_cgroup(const struct worlds *worlds, uint64_t id)
{
	return cgroups_path(worlds->cgroups, id);
}

const struct worlds_losses *worlds_losses(const struct worlds *worlds)
{
	return &worlds->losses;
}

/* Of a list that several have, each has its part: so all is counted once. */
void worlds_size(const struct worlds *worlds, struct worlds_size *ret_size)
{
	double mappings = 0;

	for (uint32_t i = 0; i < SPACE_BUCKETS; i++) {
		const struct space *space = worlds->spaces.buckets[i];

		for (; space; space = space->older) {
			for (const struct world *world = space->newest; world; world = world->older)
				mappings +=
					(double)world->mappings->n / world->mappings->references;
		}
	}
	*ret_size = (struct worlds_size){
		.spaces = worlds->spaces.n,
		.asked = worlds->n_ids - 1,
		.mappings = (uint64_t)(mappings + 0.5),
		.files = files_n(worlds->capture.files),
		.files_held = files_n_held(worlds->capture.files),
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
static int open_mapped_dump(const struct worlds *worlds, const struct world *world,
			    const char *name)
{
	for (uint32_t i = 0; i < world->mappings->n; i++) {
		const struct mapping *mapping = &world->mappings->at[i];
		const char *slash = strrchr(mapping->name, '/');
		own(own_fd) int fd = -1;
		struct stat status;

		if (mapping->kind != MAPPING_FILE || !slash || strcmp(slash + 1, name) != 0)
			continue;
		fd = files_open_growing(worlds->capture.files, mapping->file, &status);
		if (fd < 0)
			return -ENOENT;
		return is_trusted(&status, world->space) ? take_fd(&fd) : -EPERM;
	}
	return -ENOENT;
}

int worlds_open_jit(const struct worlds *worlds, uint32_t id, const char *kind)
{
	const struct world *world = by_id(worlds, id);
	const struct roots *roots = worlds->capture.roots;
	struct answering *answering = worlds->capture.answering;
	bool map = strcmp(kind, "map") == 0;
	const struct space *space;
	char inner[32], outer[32];
	int fd;

	if (!world)
		return -ESRCH;
	space = world->space;
	snprintf(outer, sizeof(outer), map ? "perf-%d.map" : "jit-%d.dump", (int)space->tgid);
	snprintf(inner, sizeof(inner), map ? "perf-%d.map" : "jit-%d.dump",
		 (int)(space->identity.innermost ? space->identity.innermost : space->tgid));
	fd = map ? -ENOENT : open_mapped_dump(worlds, world, inner);
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
