// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/spaces.h"

#include <errno.h>
#include <stdlib.h>

#include "files/roots.h"

static struct space **bucket(struct spaces *spaces, pid_t tgid)
{
	return &spaces->buckets[(uint32_t)tgid % SPACE_BUCKETS];
}

static void image_free(struct image *image)
{
	mappings_release(image->mappings);
	free(image);
}

static void space_free(struct space *space)
{
	for (struct image *image = space->newest; image;) {
		struct image *older = image->older;

		image_free(image);
		image = older;
	}
	free(space->jit);
	free(space);
}

void spaces_clear(struct spaces *spaces)
{
	for (uint32_t i = 0; i < SPACE_BUCKETS; i++) {
		for (struct space *space = spaces->buckets[i]; space;) {
			struct space *older = space->older;

			space_free(space);
			space = older;
		}
	}
	*spaces = (struct spaces){ 0 };
}

struct space *spaces_add(struct spaces *spaces, pid_t tgid, uint64_t from)
{
	struct space **at = bucket(spaces, tgid);
	struct space *space = calloc(1, sizeof(*space));

	if (!space)
		return NULL;
	space->tgid = tgid;
	space->from = from;
	space->root = ROOT_UNKNOWN;
	/* Behind newer spaces of the same process: records may be out of order. */
	for (struct space **later = at; *later; later = &(*later)->older) {
		if ((*later)->tgid == tgid && (*later)->from > from)
			at = &(*later)->older;
	}
	space->older = *at;
	*at = space;
	spaces->n++;
	return space;
}

struct space *spaces_at(const struct spaces *spaces, pid_t tgid, uint64_t time)
{
	struct space *space = spaces->buckets[(uint32_t)tgid % SPACE_BUCKETS];

	for (; space; space = space->older) {
		if (space->tgid == tgid && space->from <= time)
			return space;
	}
	return NULL;
}

struct space *spaces_with_cookie(const struct spaces *spaces, pid_t tgid, uint64_t cookie)
{
	struct space *space = spaces->buckets[(uint32_t)tgid % SPACE_BUCKETS];

	for (; space; space = space->older) {
		if (space->tgid == tgid && space->cookie == cookie)
			return space;
	}
	return NULL;
}

void spaces_retire(struct spaces *spaces, struct space *space, uint64_t time)
{
	if (space->until)
		return;
	space->until = time ? time : 1;
	if (spaces->last_retired)
		spaces->last_retired->retired = space;
	else
		spaces->first_retired = space;
	spaces->last_retired = space;
}

static void unlink_space(struct spaces *spaces, struct space *space)
{
	struct space **at = bucket(spaces, space->tgid);

	while (*at != space)
		at = &(*at)->older;
	*at = space->older;
	spaces->n--;
}

void spaces_discard(struct spaces *spaces, struct space *space)
{
	unlink_space(spaces, space);
	space_free(space);
}

void spaces_expire(struct spaces *spaces, uint64_t time)
{
	while (spaces->first_retired && spaces->first_retired->until + SPACE_KEPT_NS < time) {
		struct space *space = spaces->first_retired;

		spaces->first_retired = space->retired;
		if (!spaces->first_retired)
			spaces->last_retired = NULL;
		space->retired = NULL;
		if (space->n_ids)
			space->expired = true;
		else
			spaces_discard(spaces, space);
	}
}

void spaces_sweep(struct spaces *spaces)
{
	for (uint32_t i = 0; i < SPACE_BUCKETS; i++) {
		for (struct space **at = &spaces->buckets[i]; *at;) {
			struct space *space = *at;

			if (!space->expired || space->n_ids) {
				at = &space->older;
				continue;
			}
			*at = space->older;
			spaces->n--;
			space_free(space);
		}
	}
}

static void mark_files(const struct mapping_list *list, bool *used)
{
	for (uint32_t i = 0; list && i < list->n; i++)
		if (list->at[i].kind == MAPPING_FILE)
			used[list->at[i].file] = true;
}

void spaces_mark_files(const struct spaces *spaces, bool *used)
{
	for (uint32_t i = 0; i < SPACE_BUCKETS; i++)
		for (const struct space *space = spaces->buckets[i]; space; space = space->older)
			for (const struct image *image = space->expired ? NULL : space->newest;
			     image; image = image->older)
				mark_files(image->mappings, used);
}

/* Frees the oldest image without an id if a process that remaps its code has made too many. */
static void drop_spare(struct space *space)
{
	struct image **oldest = NULL;
	uint32_t spare = 0;

	for (struct image **at = &space->newest->older; *at; at = &(*at)->older) {
		if ((*at)->id == IMAGE_NONE) {
			spare++;
			oldest = at;
		}
	}
	if (spare > SPACE_MAX_SPARE_IMAGES) {
		struct image *image = *oldest;

		*oldest = image->older;
		image_free(image);
	}
}

struct image *space_begin(struct space *space, uint64_t from, struct mapping_list *mappings)
{
	struct image *image = calloc(1, sizeof(*image));

	if (!image) {
		mappings_release(mappings);
		return NULL;
	}
	*image = (struct image){
		.space = space,
		.older = space->newest,
		.mappings = mappings,
		.from = from,
	};
	space->newest = image;
	drop_spare(space);
	return image;
}

struct image *space_image_at(const struct space *space, uint64_t time)
{
	struct image *image = space->newest;

	while (image && image->from > time && image->older)
		image = image->older;
	return image;
}

int space_map(struct space *space, uint64_t time, const struct mapping *mapping)
{
	struct image *image = space->newest;
	struct mapping_list *mappings;
	int r;

	if (mappings_conflict(image->mappings, mapping)) {
		/* Addresses that were looked up in the old image must keep their meaning. */
		mappings = mappings_share(image->mappings);
		r = mappings_add(&mappings, mapping);
		if (r) {
			mappings_release(mappings);
			return r;
		}
		return space_begin(space, time, mappings) ? 0 : -ENOMEM;
	}
	return mappings_add(&image->mappings, mapping);
}
