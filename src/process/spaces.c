// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/spaces.h"

#include <errno.h>
#include <stdlib.h>

static struct space **bucket(struct spaces *spaces, pid_t tgid)
{
	return &spaces->buckets[(uint32_t)tgid % SPACE_BUCKETS];
}

static void world_free(struct world *world)
{
	mappings_release(world->mappings);
	free(world);
}

static void space_free(struct space *space)
{
	for (struct world *world = space->newest; world;) {
		struct world *older = world->older;

		world_free(world);
		world = older;
	}
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
	/* Behind those of the same process that are newer: records are nearly always in order. */
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

void spaces_forget(struct spaces *spaces, uint64_t time)
{
	while (spaces->first_retired && spaces->first_retired->until + SPACE_KEPT_NS < time) {
		struct space *space = spaces->first_retired;

		spaces->first_retired = space->retired;
		if (!spaces->first_retired)
			spaces->last_retired = NULL;
		space->retired = NULL;
		if (space->n_asked)
			space->over = true;
		else
			spaces_discard(spaces, space);
	}
}

void spaces_sweep(struct spaces *spaces)
{
	for (uint32_t i = 0; i < SPACE_BUCKETS; i++) {
		for (struct space **at = &spaces->buckets[i]; *at;) {
			struct space *space = *at;

			if (!space->over || space->n_asked) {
				at = &space->older;
				continue;
			}
			*at = space->older;
			spaces->n--;
			space_free(space);
		}
	}
}

/* A process that remaps its code all the time must not fill our memory with its past. */
static void drop_spare(struct space *space)
{
	struct world **oldest = NULL;
	uint32_t spare = 0;

	for (struct world **at = &space->newest->older; *at; at = &(*at)->older) {
		if ((*at)->id == WORLD_NONE) {
			spare++;
			oldest = at;
		}
	}
	if (spare > SPACE_MAX_SPARE_WORLDS) {
		struct world *world = *oldest;

		*oldest = world->older;
		world_free(world);
	}
}

struct world *space_begin(struct space *space, uint64_t from, struct mapping_list *mappings)
{
	struct world *world = calloc(1, sizeof(*world));

	if (!world) {
		mappings_release(mappings);
		return NULL;
	}
	*world = (struct world){
		.space = space,
		.older = space->newest,
		.mappings = mappings,
		.from = from,
	};
	space->newest = world;
	drop_spare(space);
	return world;
}

struct world *space_world_at(const struct space *space, uint64_t time)
{
	struct world *world = space->newest;

	while (world && world->from > time && world->older)
		world = world->older;
	return world;
}

int space_map(struct space *space, uint64_t time, const struct mapping *mapping)
{
	struct world *world = space->newest;
	struct mapping_list *mappings;
	int r;

	if (mappings_conflict(world->mappings, mapping)) {
		/* What holds for the old world is not to be changed under those who ask it. */
		mappings = mappings_share(world->mappings);
		r = mappings_add(&mappings, mapping);
		if (r) {
			mappings_release(mappings);
			return r;
		}
		return space_begin(space, time, mappings) ? 0 : -ENOMEM;
	}
	return mappings_add(&world->mappings, mapping);
}
