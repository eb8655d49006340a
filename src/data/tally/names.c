// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"
#include "base/partition.h"

/* A frame without the lower half of its offset: most frames share theirs with others. */
struct kind {
	const char *name, *linkage_name, *module, *file;
	uint64_t base;
	uint32_t line, object;
	uint16_t flags;
	uint8_t language;
	uint32_t offset_high;
};

struct frame {
	uint32_t kind, offset;
};

struct names {
	struct pool *strings;
	struct pool **shared; /* other users' pools, whose strings frames point to */
	uint32_t n_shared, shared_capacity;
	struct kind *kinds;
	uint32_t n_kinds, kind_capacity;
	struct index kind_index;
	struct frame *frames;
	uint32_t *firsts; /* of each address: its first frame */
	struct names_object *objects;
	struct names_cgroup *cgroups;
	struct names_process *processes;
	uint32_t n_frames, frame_capacity;
	uint32_t n_addresses, address_capacity;
	uint32_t n_objects, object_capacity;
	uint32_t n_cgroups, cgroup_capacity;
	uint32_t n_processes, process_capacity;
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

static void free_content(struct names *names)
{
	pool_free(names->strings);
	for (uint32_t i = 0; i < names->n_shared; i++)
		pool_free(names->shared[i]);
	free(names->shared);
	free(names->kinds);
	index_free(&names->kind_index);
	free(names->frames);
	free(names->firsts);
	free(names->objects);
	for (uint32_t i = 0; i < names->n_cgroups; i++)
		free((void *)names->cgroups[i].labels);
	free(names->cgroups);
	free(names->processes);
}

void names_free(struct names *names)
{
	if (!names)
		return;
	free_content(names);
	free(names);
}

int names_clear(struct names *names)
{
	struct pool *strings;
	int r = pool_new(&strings);

	if (r < 0)
		return r;
	free_content(names);
	*names = (struct names){ .strings = strings };
	return 0;
}

const char *names_string(struct names *names, const char *string)
{
	return pool_string(names->strings, string);
}

int names_share_strings(struct names *names, struct pool *pool)
{
	int r;

	for (uint32_t i = 0; i < names->n_shared; i++) {
		if (names->shared[i] == pool)
			return 0;
	}
	r = grow(&names->shared, &names->shared_capacity, (size_t)names->n_shared + 1);
	if (r == 0)
		names->shared[names->n_shared++] = pool_share(pool);
	return r;
}

int names_add_object(struct names *names, const struct names_object *object, uint32_t *ret_index)
{
	int r;

	if (!object->path || object->build_id_size > NAMES_BUILD_ID_SIZE)
		return -EINVAL;
	r = grow(&names->objects, &names->object_capacity, (size_t)names->n_objects + 1);
	if (r < 0)
		return r;
	names->objects[names->n_objects] = *object;
	*ret_index = names->n_objects++;
	return 0;
}

static struct kind kind_of(const struct names_frame *frame)
{
	return (struct kind){
		.name = frame->name,
		.linkage_name = frame->linkage_name,
		.module = frame->module,
		.file = frame->file,
		.base = frame->base,
		.line = frame->line,
		.object = frame->object,
		.flags = frame->flags,
		.language = frame->language,
		.offset_high = (uint32_t)(frame->offset >> 32),
	};
}

static bool same_kind(const struct kind *a, const struct kind *b)
{
	return a->name == b->name && a->linkage_name == b->linkage_name && a->module == b->module &&
	       a->file == b->file && a->base == b->base && a->line == b->line &&
	       a->object == b->object && a->flags == b->flags && a->language == b->language &&
	       a->offset_high == b->offset_high;
}

/* Strings are compared as pointers, because a pool stores equal strings once. */
static uint64_t hash_kind(const struct kind *kind)
{
	uint64_t hash = (uintptr_t)kind->name ^ ((uint64_t)kind->line << 40);

	hash = hash_u64(hash ^ kind->base) ^ (uintptr_t)kind->module ^
	       ((uint64_t)kind->object << 32);
	hash = hash_u64(hash) ^ (uintptr_t)kind->file ^ (uintptr_t)kind->linkage_name << 16;
	return hash_u64(hash ^ ((uint64_t)kind->flags << 48) ^ ((uint64_t)kind->language << 40) ^
			((uint64_t)kind->offset_high << 24));
}

static int intern_kind(struct names *names, const struct kind *kind, uint32_t *ret_kind)
{
	struct index_cursor cursor;
	uint64_t hash;
	int r;

	if (names->n_frames > 0) {
		uint32_t last = names->frames[names->n_frames - 1].kind;

		if (same_kind(&names->kinds[last], kind)) {
			*ret_kind = last;
			return 0;
		}
	}
	hash = hash_kind(kind);
	for (uint32_t at = index_first(&names->kind_index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&names->kind_index, &cursor)) {
		if (same_kind(&names->kinds[at], kind)) {
			*ret_kind = at;
			return 0;
		}
	}
	r = grow(&names->kinds, &names->kind_capacity, (size_t)names->n_kinds + 1);
	if (r == 0)
		r = index_add(&names->kind_index, hash, names->n_kinds);
	if (r < 0)
		return r;
	names->kinds[names->n_kinds] = *kind;
	*ret_kind = names->n_kinds++;
	return 0;
}

static int check_frames(const struct names *names, const struct names_frame *frames, uint32_t n)
{
	if (n == 0)
		return -EINVAL;
	if (n > NAMES_MAX_INLINED)
		return -E2BIG;
	for (uint32_t i = 0; i < n; i++) {
		if (frames[i].object != NAMES_NONE && frames[i].object >= names->n_objects)
			return -EINVAL;
	}
	return 0;
}

int names_add_address(struct names *names, const struct names_frame *frames, uint32_t n)
{
	uint32_t first = names->n_frames;
	int r = check_frames(names, frames, n);

	if (r == 0)
		r = grow(&names->frames, &names->frame_capacity, (size_t)first + n);
	if (r == 0)
		r = grow(&names->firsts, &names->address_capacity, (size_t)names->n_addresses + 1);
	for (uint32_t i = 0; r == 0 && i < n; i++) {
		struct kind kind = kind_of(&frames[i]);
		struct frame *frame = &names->frames[names->n_frames];

		r = intern_kind(names, &kind, &frame->kind);
		if (r < 0)
			break;
		frame->offset = (uint32_t)frames[i].offset;
		names->n_frames++;
	}
	if (r < 0) {
		names->n_frames = first;
		return r;
	}
	names->firsts[names->n_addresses++] = first;
	return 0;
}

int names_replace_frame(struct names *names, uint32_t address, const struct names_frame *frame)
{
	struct kind kind = kind_of(frame);
	struct names_address at;
	uint32_t number;
	int r;

	if (address >= names->n_addresses)
		return -EINVAL;
	at = names_address(names, address);
	r = at.n == 1 ? check_frames(names, frame, 1) : -EINVAL;
	if (r == 0)
		r = intern_kind(names, &kind, &number);
	if (r < 0)
		return r;
	names->frames[at.first] = (struct frame){ number, (uint32_t)frame->offset };
	return 0;
}

/* Copies the labels of a cgroup, which has at least one. NULL: no memory. */
static struct names_label *copy_labels(struct names *names, const struct names_cgroup *cgroup)
{
	own(own_free) struct names_label *labels = calloc(cgroup->n_labels, sizeof(*labels));

	for (uint32_t i = 0; labels && i < cgroup->n_labels; i++) {
		labels[i].key = names_string(names, cgroup->labels[i].key);
		labels[i].value = names_string(names, cgroup->labels[i].value);
		if (!labels[i].key || !labels[i].value)
			return NULL;
	}
	return take_ptr(labels);
}

/* To a cgroup that is known already: labels that it lacked. */
static int add_labels(struct names *names, struct names_cgroup *known,
		      const struct names_cgroup *cgroup)
{
	const struct names_label *labels;

	if (cgroup->n_labels <= known->n_labels)
		return 0;
	labels = copy_labels(names, cgroup);
	if (!labels)
		return -ENOMEM;
	free((void *)known->labels);
	known->labels = labels;
	known->n_labels = cgroup->n_labels;
	return 0;
}

int names_add_cgroup(struct names *names, const struct names_cgroup *cgroup)
{
	struct names_cgroup copy = { .id = cgroup->id, .n_labels = cgroup->n_labels };
	uint32_t at = names->n_cgroups;

	if (cgroup->n_labels > NAMES_MAX_LABELS)
		return -EINVAL;
	while (at > 0 && names->cgroups[at - 1].id > cgroup->id)
		at--;
	if (at > 0 && names->cgroups[at - 1].id == cgroup->id)
		return add_labels(names, &names->cgroups[at - 1], cgroup);
	copy.path = names_string(names, cgroup->path);
	if (!copy.path ||
	    grow(&names->cgroups, &names->cgroup_capacity, (size_t)names->n_cgroups + 1) < 0)
		return -ENOMEM;
	copy.labels = copy.n_labels ? copy_labels(names, cgroup) : NULL;
	if (copy.n_labels && !copy.labels)
		return -ENOMEM;
	memmove(names->cgroups + at + 1, names->cgroups + at,
		(names->n_cgroups - at) * sizeof(*names->cgroups));
	names->cgroups[at] = copy;
	names->n_cgroups++;
	return 0;
}

const struct names_cgroup *names_cgroup_by_id(const struct names_cgroup *cgroups, uint32_t n,
					      uint64_t id)
{
	size_t at = partition_point(i, n, cgroups[i].id < id);

	return at < n && cgroups[at].id == id ? &cgroups[at] : NULL;
}

int names_add_process(struct names *names, const struct names_process *process)
{
	const struct names_process copy = { process->tgid, names_string(names, process->comm) };
	size_t at = partition_point(i, names->n_processes, names->processes[i].tgid < copy.tgid);

	if (!copy.comm)
		return -ENOMEM;
	if (at < names->n_processes && names->processes[at].tgid == copy.tgid) {
		names->processes[at] = copy;
		return 0;
	}
	if (grow(&names->processes, &names->process_capacity, (size_t)names->n_processes + 1) < 0)
		return -ENOMEM;
	memmove(names->processes + at + 1, names->processes + at,
		(names->n_processes - at) * sizeof(*names->processes));
	names->processes[at] = copy;
	names->n_processes++;
	return 0;
}

const struct names_process *names_process_by_tgid(const struct names_process *processes, uint32_t n,
						  uint32_t tgid)
{
	size_t at = partition_point(i, n, processes[i].tgid < tgid);

	return at < n && processes[at].tgid == tgid ? &processes[at] : NULL;
}

const char *names_cgroup_label(const struct names_cgroup *cgroup, const char *key)
{
	for (uint32_t i = 0; cgroup && i < cgroup->n_labels; i++)
		if (strcmp(cgroup->labels[i].key, key) == 0)
			return cgroup->labels[i].value;
	return NULL;
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

struct names_address names_address(const struct names *names, uint32_t address)
{
	uint32_t first = names->firsts[address];
	uint32_t end =
		address + 1 < names->n_addresses ? names->firsts[address + 1] : names->n_frames;

	return (struct names_address){ .first = first, .n = end - first };
}

struct names_frame names_frame(const struct names *names, uint32_t frame)
{
	const struct frame *kept = &names->frames[frame];
	const struct kind *kind = &names->kinds[kept->kind];

	return (struct names_frame){
		.name = kind->name,
		.linkage_name = kind->linkage_name,
		.module = kind->module,
		.file = kind->file,
		.base = kind->base,
		.offset = (uint64_t)kind->offset_high << 32 | kept->offset,
		.line = kind->line,
		.object = kind->object,
		.flags = kind->flags,
		.language = kind->language,
	};
}

const struct names_object *names_objects(const struct names *names)
{
	return names->objects;
}

const struct names_cgroup *names_cgroups(const struct names *names)
{
	return names->cgroups;
}

uint32_t names_n_processes(const struct names *names)
{
	return names->n_processes;
}

const struct names_process *names_processes(const struct names *names)
{
	return names->processes;
}
