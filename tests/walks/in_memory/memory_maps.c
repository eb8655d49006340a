// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/walks/in_memory/memory_maps.h"

#include <errno.h>
#include <string.h>

#include "base/own.h"

struct memory_maps {
	struct unwind_maps maps;
	void *segments[WIRE_MAX_SEGMENTS];
};

static int add_segments(struct unwind_maps *base, uint32_t first, uint32_t n, void **ret_memory)
{
	struct memory_maps *maps = (struct memory_maps *)base;

	if (first >= WIRE_MAX_SEGMENTS || n > WIRE_MAX_SEGMENTS - first)
		return -ENOSPC;
	for (uint32_t i = 0; i < n; i++) {
		if (!maps->segments[first + i])
			maps->segments[first + i] =
				aligned_alloc(WIRE_BLOCK_SIZE, UNWIND_SEGMENT_SIZE);
		if (!maps->segments[first + i])
			return -ENOMEM; /* the next call uses those that were allocated */
		memset(maps->segments[first + i], 0, UNWIND_SEGMENT_SIZE);
		ret_memory[i] = maps->segments[first + i];
	}
	return 0;
}

/* Tests never walk while the maps change. */
static int wait_grace(struct unwind_maps *maps)
{
	(void)maps;
	return 0;
}

static int set_rules(struct unwind_maps *maps, uint32_t first, const struct wire_rule *rules,
		     uint32_t n)
{
	(void)maps;
	(void)rules;
	return first >= WIRE_MAX_RULES || n > WIRE_MAX_RULES - first ? -E2BIG : 0;
}

static int set_process(struct unwind_maps *maps, uint32_t tgid, const struct wire_process *process)
{
	(void)maps;
	(void)tgid;
	(void)process;
	return 0;
}

static void remove_process(struct unwind_maps *maps, uint32_t tgid)
{
	(void)maps;
	(void)tgid;
}

static void set_file(struct unwind_maps *maps, const struct wire_file *file,
		     const struct wire_file_table *table)
{
	(void)maps;
	(void)file;
	(void)table;
}

static void remove_file(struct unwind_maps *maps, const struct wire_file *file)
{
	(void)maps;
	(void)file;
}

static void close_maps(struct unwind_maps *base)
{
	struct memory_maps *maps = (struct memory_maps *)base;

	for (uint32_t i = 0; i < WIRE_MAX_SEGMENTS; i++)
		free(maps->segments[i]);
	free(maps);
}

int memory_maps_new(struct unwind_maps **ret_maps)
{
	struct memory_maps *maps = calloc(1, sizeof(*maps));

	if (!maps)
		return -ENOMEM;
	maps->maps = (struct unwind_maps){
		.add_segments = add_segments,
		.wait_grace = wait_grace,
		.set_rules = set_rules,
		.set_process = set_process,
		.remove_process = remove_process,
		.set_file = set_file,
		.remove_file = remove_file,
		.close = close_maps,
	};
	*ret_maps = &maps->maps;
	return 0;
}
