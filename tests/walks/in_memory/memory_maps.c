// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/walks/in_memory/memory_maps.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/own.h"

/* Files in memory, which are mapped as BPF maps are: what was unmapped is no longer at its address.
 */
struct memory_maps {
	struct unwind_maps maps;
	int segments[WIRE_MAX_SEGMENTS];
};

static int add_segments(struct unwind_maps *base, uint32_t first, uint32_t n)
{
	struct memory_maps *maps = (struct memory_maps *)base;

	if (first >= WIRE_MAX_SEGMENTS || n > WIRE_MAX_SEGMENTS - first)
		return -ENOSPC;
	for (uint32_t i = first; i < first + n; i++) {
		own_fd(&maps->segments[i]); /* of a call that failed */
		maps->segments[i] = memfd_create("segment", MFD_CLOEXEC);
		if (maps->segments[i] < 0 || ftruncate(maps->segments[i], UNWIND_SEGMENT_SIZE) < 0)
			return -errno;
	}
	return 0;
}

static void *map(struct unwind_maps *base, uint32_t first)
{
	struct memory_maps *maps = (struct memory_maps *)base;
	void *memory = mmap(NULL, UNWIND_WINDOW_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
			    maps->segments[first / WIRE_SEGMENT_BLOCKS],
			    (off_t)(first % WIRE_SEGMENT_BLOCKS) * WIRE_BLOCK_SIZE);

	return memory == MAP_FAILED ? NULL : memory;
}

static void unmap(struct unwind_maps *maps, void *memory)
{
	(void)maps;
	munmap(memory, UNWIND_WINDOW_SIZE);
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
		own_fd(&maps->segments[i]);
	free(maps);
}

int memory_maps_new(struct unwind_maps **ret_maps)
{
	struct memory_maps *maps = calloc(1, sizeof(*maps));

	if (!maps)
		return -ENOMEM;
	memset(maps->segments, 0xff, sizeof(maps->segments)); /* -1 */
	maps->maps = (struct unwind_maps){
		.add_segments = add_segments,
		.map = map,
		.unmap = unmap,
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
