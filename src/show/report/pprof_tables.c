// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/pprof_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "view/frame_text.h"

static uint32_t n_objects(const struct pprof_tables *tables)
{
	const struct profile *base = tables->profile->base;

	return tables->profile->n_objects + (base ? base->n_objects : 0);
}

void pprof_tables_start(struct pprof_tables *tables, const struct profile *profile)
{
	size_t n;

	*tables = (struct pprof_tables){ .profile = profile };
	bytes_start(&tables->text, NULL);
	bytes_start(&tables->scratch, NULL);
	n = n_objects(tables);
	tables->mappings = reallocarray(NULL, n + 1, sizeof(*tables->mappings));
	tables->mapping_of = calloc(n + 1, sizeof(*tables->mapping_of));
	if (!tables->mappings || !tables->mapping_of)
		tables->failed = -ENOMEM;
	pprof_string(tables, "", 0);
}

void pprof_tables_clear(struct pprof_tables *tables)
{
	bytes_clear(&tables->text);
	bytes_clear(&tables->scratch);
	free(tables->strings);
	index_free(&tables->string_index);
	free(tables->functions);
	index_free(&tables->function_index);
	free(tables->locations);
	index_free(&tables->location_index);
	free(tables->location_frames);
	free(tables->mappings);
	free(tables->mapping_of);
}

/* grow(), with the failure kept in `failed`. True when there is room for `wanted` items. */
#define make_room(tables, items, capacity, wanted)                                                 \
	({                                                                                         \
		if (!(tables)->failed)                                                             \
			(tables)->failed = grow(items, capacity, wanted);                          \
		!(tables)->failed;                                                                 \
	})

/* Adds the new item at `position` to its index. Returns its id, or 0 on failure. */
static uint32_t added(struct pprof_tables *tables, struct index *index, uint64_t hash,
		      uint32_t position, uint32_t id)
{
	if (index_add(index, hash, position) < 0)
		tables->failed = -ENOMEM;
	return tables->failed ? 0 : id;
}

uint32_t pprof_string(struct pprof_tables *tables, const char *string, size_t size)
{
	struct bytes *clean = &tables->scratch;
	struct index_cursor cursor;
	uint64_t hash;

	clean->used = 0;
	if (!bytes_room(clean, 1) || !bytes_room(&tables->text, 1)) {
		tables->failed = -ENOMEM;
		return 0;
	}
	bytes_name(clean, string, size);
	hash = hash_bytes(clean->start, clean->used);
	for (uint32_t at = index_first(&tables->string_index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&tables->string_index, &cursor)) {
		const struct pprof_string *known = &tables->strings[at];

		if (known->size == clean->used &&
		    memcmp(tables->text.start + known->at, clean->start, clean->used) == 0)
			return at;
	}
	if (!make_room(tables, &tables->strings, &tables->string_capacity,
		       (size_t)tables->n_strings + 1))
		return 0;
	tables->strings[tables->n_strings] =
		(struct pprof_string){ .at = tables->text.used, .size = (uint32_t)clean->used };
	bytes_put(&tables->text, clean->start, clean->used);
	if (tables->text.failed || clean->failed)
		tables->failed = -ENOMEM;
	tables->n_strings++;
	return added(tables, &tables->string_index, hash, tables->n_strings - 1,
		     tables->n_strings - 1);
}

/* Frames of the base follow those of the profile and the marks. */
static uint32_t first_of_base(const struct pprof_tables *tables)
{
	return tables->profile->n_frames + STACK_N_MARKS;
}

uint32_t pprof_stack(const struct pprof_tables *tables, const struct tally_entry *entry,
		     bool of_base, uint32_t list[static STACK_LIST_MAX])
{
	const struct profile *of = of_base ? tables->profile->base : tables->profile;
	uint32_t n = stack_list(of, entry, list);

	for (uint32_t i = 0; of_base && i < n; i++)
		list[i] = list[i] < of->n_frames
				  ? first_of_base(tables) + list[i]
				  : tables->profile->n_frames + (list[i] - of->n_frames);
	return n;
}

const struct profile_frame *pprof_frame(const struct pprof_tables *tables, uint32_t frame)
{
	if (frame < tables->profile->n_frames)
		return &tables->profile->frames[frame];
	return frame < first_of_base(tables)
		       ? NULL
		       : &tables->profile->base->frames[frame - first_of_base(tables)];
}

uint32_t pprof_object(const struct pprof_tables *tables, uint32_t frame)
{
	const struct profile_frame *is = pprof_frame(tables, frame);
	bool of_base = frame >= first_of_base(tables);

	if (!is || is->is.object == NAMES_NONE)
		return NAMES_NONE;
	return is->is.object + (of_base ? tables->profile->n_objects : 0);
}

static struct pprof_function function_of(const struct pprof_tables *tables, uint32_t frame)
{
	const struct profile_frame *known = pprof_frame(tables, frame);
	struct pprof_function function;

	memset(&function, 0, sizeof(function)); /* hashed as bytes */
	if (!known) {
		function.name = stack_mark_text(frame - tables->profile->n_frames);
	} else {
		function.name = frame_text_name(&known->is);
		function.linkage_name = known->is.linkage_name;
		function.file = known->is.file;
	}
	if (!function.linkage_name)
		function.linkage_name = function.name;
	return function;
}

uint32_t pprof_function(struct pprof_tables *tables, uint32_t frame)
{
	struct pprof_function function = function_of(tables, frame);
	uint64_t hash = hash_bytes(&function, sizeof(function));
	struct index_cursor cursor;

	for (uint32_t at = index_first(&tables->function_index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&tables->function_index, &cursor))
		if (memcmp(&tables->functions[at], &function, sizeof(function)) == 0)
			return at + 1;
	if (!make_room(tables, &tables->functions, &tables->function_capacity,
		       (size_t)tables->n_functions + 1))
		return 0;
	tables->functions[tables->n_functions++] = function;
	return added(tables, &tables->function_index, hash, tables->n_functions - 1,
		     tables->n_functions);
}

uint32_t pprof_location(struct pprof_tables *tables, const uint32_t *frames, uint32_t n)
{
	uint64_t hash = hash_bytes(frames, n * sizeof(*frames));
	struct index_cursor cursor;

	for (uint32_t at = index_first(&tables->location_index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&tables->location_index, &cursor)) {
		const struct pprof_location *known = &tables->locations[at];

		if (known->n == n && memcmp(tables->location_frames + known->first, frames,
					    n * sizeof(*frames)) == 0)
			return at + 1;
	}
	if (!make_room(tables, &tables->locations, &tables->location_capacity,
		       (size_t)tables->n_locations + 1) ||
	    !make_room(tables, &tables->location_frames, &tables->location_frame_capacity,
		       (size_t)tables->n_location_frames + n))
		return 0;
	memcpy(tables->location_frames + tables->n_location_frames, frames, n * sizeof(*frames));
	tables->locations[tables->n_locations++] =
		(struct pprof_location){ .first = tables->n_location_frames, .n = n };
	tables->n_location_frames += n;
	return added(tables, &tables->location_index, hash, tables->n_locations - 1,
		     tables->n_locations);
}

uint32_t pprof_mapping(struct pprof_tables *tables, uint32_t object)
{
	const struct profile *profile = tables->profile;

	if (tables->failed || object >= n_objects(tables))
		return 0;
	if (tables->mapping_of[object] == 0) {
		tables->mappings[tables->n_mappings] = (struct pprof_mapping){
			.object = object < profile->n_objects
					  ? &profile->objects[object]
					  : &profile->base->objects[object - profile->n_objects],
		};
		tables->mapping_of[object] = ++tables->n_mappings;
	}
	return tables->mapping_of[object];
}
