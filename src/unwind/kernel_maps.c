// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables in BPF maps. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>

#include "base/own.h"
#include "unwind/maps.h"

#define RULES_SIZE (WIRE_MAX_RULES * sizeof(struct wire_rule))

struct kernel_maps {
	struct unwind_maps maps;
	int segments, processes;    /* borrowed */
	struct wire_rule *rules;    /* the map's memory; NULL: not mapped */
	int waiting_inner, waiting; /* a map of maps that is updated in order to wait */
	void *memory[WIRE_MAX_SEGMENTS];
};

static struct kernel_maps *of(struct unwind_maps *maps)
{
	return (struct kernel_maps *)maps;
}

int unwind_maps_new_segment(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_segment", sizeof(uint32_t),
			      WIRE_BLOCK_SIZE, WIRE_SEGMENT_BLOCKS, &options);
}

/*
 * Each update of a map of maps waits for a grace period, of some 10 ms; one of many waits once
 * where the kernel knows batches of them (9263dddc7b6f, 5.17).
 */
static int enter(struct kernel_maps *maps, uint32_t first, uint32_t n, const int *fds)
{
	own(own_free) uint32_t *keys = calloc(n, sizeof(*keys));
	uint32_t done = n;

	if (!keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		keys[i] = first + i;
	if (n > 1 && bpf_map_update_batch(maps->segments, keys, fds, &done, NULL) == 0)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		int r = bpf_map_update_elem(maps->segments, &keys[i], &fds[i], BPF_ANY);

		if (r < 0)
			return r;
	}
	return 0;
}

static int add_segments(struct unwind_maps *base, uint32_t first, uint32_t n, void **ret_memory)
{
	struct kernel_maps *maps = of(base);
	own(own_free) int *fds = calloc(n, sizeof(*fds));
	own(own_free) void **memory = calloc(n, sizeof(*memory));
	uint32_t made = 0;
	int r = 0;

	if (!fds || !memory)
		return -ENOMEM;
	if (first >= WIRE_MAX_SEGMENTS || n > WIRE_MAX_SEGMENTS - first)
		return -ENOSPC;
	for (; made < n && r == 0; made++) {
		fds[made] = unwind_maps_new_segment();
		if (fds[made] < 0) {
			r = fds[made];
			break;
		}
		memory[made] = mmap(NULL, UNWIND_SEGMENT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
				    fds[made], 0);
		if (memory[made] == MAP_FAILED) {
			r = -errno;
			close(fds[made]);
			break;
		}
	}
	if (r == 0)
		r = enter(maps, first, n, fds);
	/* The outer map, or else our mapping, holds them from here on. */
	for (uint32_t i = 0; i < made; i++) {
		close(fds[i]);
		if (r < 0)
			munmap(memory[i], UNWIND_SEGMENT_SIZE);
	}
	if (r < 0)
		return r;
	memcpy(&maps->memory[first], memory, n * sizeof(*memory));
	memcpy(ret_memory, memory, n * sizeof(*memory));
	return 0;
}

/*
 * Any update of a map of maps returns after a grace period, once no program that ran before can
 * still be running (1ae80cf31938, 4.18). This one is made for nothing else.
 */
static int settle(struct unwind_maps *base)
{
	struct kernel_maps *maps = of(base);
	uint32_t zero = 0;

	return bpf_map_update_elem(maps->waiting, &zero, &maps->waiting_inner, BPF_ANY);
}

static int set_rules(struct unwind_maps *base, uint32_t first, const struct wire_rule *rules,
		     uint32_t n)
{
	/* Nothing leads to them yet. */
	memcpy(of(base)->rules + first, rules, n * sizeof(*rules));
	return 0;
}

static int set_process(struct unwind_maps *base, uint32_t tgid, const struct wire_process *process)
{
	return bpf_map_update_elem(of(base)->processes, &tgid, process, BPF_ANY);
}

static void remove_process(struct unwind_maps *base, uint32_t tgid)
{
	bpf_map_delete_elem(of(base)->processes, &tgid);
}

static void close_maps(struct unwind_maps *base)
{
	struct kernel_maps *maps = of(base);

	for (uint32_t i = 0; i < WIRE_MAX_SEGMENTS; i++) {
		if (maps->memory[i])
			munmap(maps->memory[i], UNWIND_SEGMENT_SIZE);
	}
	if (maps->rules)
		munmap(maps->rules, RULES_SIZE);
	own_fd(&maps->waiting_inner);
	own_fd(&maps->waiting);
	free(maps);
}

static int map_rules(struct kernel_maps *maps, int rules)
{
	void *memory = mmap(NULL, RULES_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, rules, 0);

	if (memory == MAP_FAILED)
		return -errno;
	maps->rules = memory;
	return 0;
}

int unwind_maps_kernel(int segments, int rules, int processes, struct unwind_maps **ret_maps)
{
	LIBBPF_OPTS(bpf_map_create_opts, options);
	struct kernel_maps *maps = calloc(1, sizeof(*maps));
	int r = 0;

	if (!maps)
		return -ENOMEM;
	*maps = (struct kernel_maps){
		.maps = { .add_segments = add_segments,
			  .settle = settle,
			  .set_rules = set_rules,
			  .set_process = set_process,
			  .remove_process = remove_process,
			  .close = close_maps },
		.segments = segments,
		.processes = processes,
		.waiting_inner = -1,
		.waiting = -1,
	};
	r = map_rules(maps, rules);
	if (r < 0) {
		close_maps(&maps->maps);
		return r;
	}
	maps->waiting_inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_wait", sizeof(uint32_t),
					     sizeof(uint32_t), 1, NULL);
	if (maps->waiting_inner < 0) {
		r = maps->waiting_inner;
	} else {
		options.inner_map_fd = (uint32_t)maps->waiting_inner;
		maps->waiting = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "unwind_waits",
					       sizeof(uint32_t), sizeof(uint32_t), 1, &options);
		r = maps->waiting < 0 ? maps->waiting : 0;
	}
	if (r < 0) {
		close_maps(&maps->maps);
		return r;
	}
	*ret_maps = &maps->maps;
	return 0;
}
