// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"

struct names {
	struct pool *strings;
	struct names_frame *frames;
	struct names_address *addresses;
	struct names_object *objects;
	struct names_cgroup *cgroups;
	uint32_t n_frames, frame_room;
	uint32_t n_addresses, address_room;
	uint32_t n_objects, object_room;
	uint32_t n_cgroups, cgroup_room;
};

int names_new(struct names **ret_names)
{
	struct names *names = calloc(1, sizeof(*names));
	int r;

	if (!names)
		return -ENOMEM;
	r = pool_new(&names->strings);
	if (r < 0) {
		free(names);
		return r;
	}
	*ret_names = names;
	return 0;
}

void names_free(struct names *names)
{
	if (!names)
		return;
	pool_free(names->strings);
	free(names->frames);
	free(names->addresses);
	free(names->objects);
	free(names->cgroups);
	free(names);
}

const char *names_string(struct names *names, const char *string)
{
	return pool_string(names->strings, string);
}

/* Makes room for `more` elements after the first n; indices stay below NAMES_NONE. */
static int make_room(void **array, uint32_t n, uint32_t more, uint32_t *room, size_t size)
{
	uint64_t wanted = (uint64_t)n + more;
	uint64_t grown = (uint64_t)n * 2 > wanted ? (uint64_t)n * 2 : wanted < 64 ? 64 : wanted;
	void *moved;

	if (wanted <= *room)
		return 0;
	if (wanted >= NAMES_NONE)
		return -EFBIG;
	if (grown >= NAMES_NONE)
		grown = NAMES_NONE - 1;
	moved = reallocarray(*array, grown, size);
	if (!moved)
		return -ENOMEM;
	*array = moved;
	*room = (uint32_t)grown;
	return 0;
}

int names_add_object(struct names *names, const struct names_object *object, uint32_t *ret_index)
{
	int r;

	if (!object->path || object->build_id_size > NAMES_BUILD_ID_SIZE)
		return -EINVAL;
	r = make_room((void **)&names->objects, names->n_objects, 1, &names->object_room,
		      sizeof(*object));
	if (r < 0)
		return r;
	names->objects[names->n_objects] = *object;
	*ret_index = names->n_objects++;
	return 0;
}

int names_add_address(struct names *names, const struct names_frame *frames, uint32_t n)
{
	int r;

	if (n == 0)
		return -EINVAL;
	if (n > NAMES_MAX_INLINED)
		return -E2BIG;
	for (uint32_t i = 0; i < n; i++)
		if (frames[i].object != NAMES_NONE && frames[i].object >= names->n_objects)
			return -EINVAL;
	r = make_room((void **)&names->frames, names->n_frames, n, &names->frame_room,
		      sizeof(*frames));
	if (r == 0)
		r = make_room((void **)&names->addresses, names->n_addresses, 1,
			      &names->address_room, sizeof(*names->addresses));
	if (r < 0)
		return r;
	memcpy(names->frames + names->n_frames, frames, n * sizeof(*frames));
	names->addresses[names->n_addresses++] =
		(struct names_address){ .first = names->n_frames, .n = n };
	names->n_frames += n;
	return 0;
}

int names_add_cgroup(struct names *names, uint64_t id, const char *path)
{
	uint32_t at = names->n_cgroups;
	const char *copy;
	int r;

	while (at > 0 && names->cgroups[at - 1].id > id)
		at--;
	if (at > 0 && names->cgroups[at - 1].id == id)
		return 0;
	copy = names_string(names, path);
	if (!copy)
		return -ENOMEM;
	r = make_room((void **)&names->cgroups, names->n_cgroups, 1, &names->cgroup_room,
		      sizeof(*names->cgroups));
	if (r < 0)
		return r;
	memmove(names->cgroups + at + 1, names->cgroups + at,
		(names->n_cgroups - at) * sizeof(*names->cgroups));
	names->cgroups[at] = (struct names_cgroup){ .id = id, .path = copy };
	names->n_cgroups++;
	return 0;
}

uint32_t names_n_addresses(const struct names *names)
{
	return names->n_addresses;
}

uint32_t names_n_frames(const struct names *names)
{
	return names->n_frames;
}

uint32_t names_n_objects(const struct names *names)
{
	return names->n_objects;
}

uint32_t names_n_cgroups(const struct names *names)
{
	return names->n_cgroups;
}

const struct names_address *names_addresses(const struct names *names)
{
	return names->addresses;
}

const struct names_frame *names_frames(const struct names *names)
{
	return names->frames;
}

const struct names_object *names_objects(const struct names *names)
{
	return names->objects;
}

const struct names_cgroup *names_cgroups(const struct names *names)
{
	return names->cgroups;
}
