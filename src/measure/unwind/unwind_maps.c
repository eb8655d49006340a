// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/unwind_maps.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/own.h"
#include "base/thread.h"

struct kernel_maps {
	struct unwind_maps maps;
	struct unwind_maps_fds fds; /* borrowed */
	__u64 *changes;		    /* unwind_changes, borrowed */
	int waiting_inner, waiting; /* a map of maps that is updated in order to wait */
	/* Descriptors, by which parts of segments are mapped. Those are set before a block of the
	 * segment is known, and stay. */
	int segments[WIRE_MAX_SEGMENTS];
	struct entry *entry; /* the last one, if it may still be under way */
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
 * Segments that a thread enters into the map of maps. Each update of such a map is visible to
 * programs at once, but returns after a grace period of some 10 ms. A batch waits only once, where
 * the kernel has batches for these maps (9263dddc7b6f, Linux 5.17).
 */
struct entry {
	int outer; /* borrowed */
	uint32_t first, n;
	int *fds; /* borrowed */
	pthread_t thread;
	atomic_bool over;
	int r; /* once it is over */
};

static int update_all(const struct entry *entry)
{
	own(own_free) uint32_t *keys = calloc(entry->n, sizeof(*keys));
	uint32_t done = entry->n;

	if (!keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < entry->n; i++)
		keys[i] = entry->first + i;
	if (entry->n > 1 && bpf_map_update_batch(entry->outer, keys, entry->fds, &done, NULL) == 0)
		return 0;
	for (uint32_t i = 0; i < entry->n; i++) {
		int r = bpf_map_update_elem(entry->outer, &keys[i], &entry->fds[i], BPF_ANY);

		if (r < 0)
			return r;
	}
	return 0;
}

static void *enter(void *context)
{
	struct entry *entry = context;

	entry->r = update_all(entry);
	atomic_store(&entry->over, true);
	return NULL;
}

/* Waits for the last entry to be over; 0 or its negative errno. */
static int finish_entry(struct kernel_maps *maps)
{
	struct entry *entry = maps->entry;
	int r;

	if (!entry)
		return 0;
	maps->entry = NULL;
	pthread_join(entry->thread, NULL);
	r = entry->r;
	free(entry);
	return r;
}

/* Enters segments; returns when they are visible to programs. Takes the entry over. */
static int begin_entry(struct kernel_maps *maps, struct entry *entry)
{
	const struct timespec shortly = { .tv_nsec = 20000 };
	uint32_t last = entry->first + entry->n - 1, id;
	int r = thread_start(&entry->thread, enter, entry);

	if (r < 0) {
		free(entry);
		return r;
	}
	maps->entry = entry;
	while (!atomic_load(&entry->over) &&
	       bpf_map_lookup_elem(maps->fds.segments, &last, &id) < 0)
		nanosleep(&shortly, NULL);
	return atomic_load(&entry->over) ? finish_entry(maps) : 0;
}

static int new_segments(int *fds, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		fds[i] = unwind_maps_new_segment();
		if (fds[i] < 0)
			return fds[i];
	}
	return 0;
}

static int add_segments(struct unwind_maps *base, uint32_t first, uint32_t n)
{
	struct kernel_maps *maps = of(base);
	struct entry *entry;
	int r;

	if (first >= WIRE_MAX_SEGMENTS || n > WIRE_MAX_SEGMENTS - first)
		return -ENOSPC;
	r = finish_entry(maps);
	if (r < 0)
		return r;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	*entry = (struct entry){
		.outer = maps->fds.segments, .first = first, .n = n, .fds = &maps->segments[first]
	};
	r = new_segments(entry->fds, n);
	if (r < 0)
		free(entry);
	else
		r = begin_entry(maps, entry);
	for (uint32_t i = 0; r < 0 && i < n; i++)
		own_fd(&maps->segments[first + i]);
	return r;
}

static void *map(struct unwind_maps *base, uint32_t first)
{
	off_t at = (off_t)(first % WIRE_SEGMENT_BLOCKS) * WIRE_BLOCK_SIZE;
	void *memory = mmap(NULL, UNWIND_WINDOW_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
			    of(base)->segments[first / WIRE_SEGMENT_BLOCKS], at);

	return memory == MAP_FAILED ? NULL : memory;
}

static void unmap(struct unwind_maps *base, void *memory)
{
	(void)base;
	munmap(memory, UNWIND_WINDOW_SIZE);
}

/*
 * Any update of a map of maps returns after a grace period: when no program that ran before is
 * still running (1ae80cf31938, Linux 4.18). The map `waiting` exists for that only.
 */
static int wait_grace(struct unwind_maps *base)
{
	struct kernel_maps *maps = of(base);
	uint32_t zero = 0;

	return bpf_map_update_elem(maps->waiting, &zero, &maps->waiting_inner, BPF_ANY);
}

/* Maps the pages of these rules only while it writes: mapped pages count as ours. */
static int set_rules(struct unwind_maps *base, uint32_t first, const struct wire_rule *rules,
		     uint32_t n)
{
	size_t begin = first * sizeof(*rules), size = n * sizeof(*rules);
	size_t in_page = begin % (size_t)sysconf(_SC_PAGESIZE);
	char *memory;

	if (n == 0)
		return 0;
	memory = mmap(NULL, in_page + size, PROT_READ | PROT_WRITE, MAP_SHARED, of(base)->fds.rules,
		      (off_t)(begin - in_page));
	if (memory == MAP_FAILED)
		return -errno;
	/* No row refers to them yet. */
	memcpy(memory + in_page, rules, size);
	munmap(memory, in_page + size);
	return 0;
}

static int set_process(struct unwind_maps *base, uint32_t tgid, const struct wire_process *process)
{
	struct kernel_maps *maps = of(base);
	int r = bpf_map_update_elem(maps->fds.processes, &tgid, process, BPF_ANY);

	__atomic_fetch_add(maps->changes, 1, __ATOMIC_SEQ_CST);
	return r;
}

static void remove_process(struct unwind_maps *base, uint32_t tgid)
{
	struct kernel_maps *maps = of(base);

	bpf_map_delete_elem(maps->fds.processes, &tgid);
	__atomic_fetch_add(maps->changes, 1, __ATOMIC_SEQ_CST);
}

static void set_file(struct unwind_maps *base, const struct wire_file *file,
		     const struct wire_file_table *table)
{
	bpf_map_update_elem(of(base)->fds.files, file, table, BPF_ANY);
}

static void remove_file(struct unwind_maps *base, const struct wire_file *file)
{
	bpf_map_delete_elem(of(base)->fds.files, file);
}

static void close_maps(struct unwind_maps *base)
{
	struct kernel_maps *maps = of(base);

	finish_entry(maps);
	for (uint32_t i = 0; i < WIRE_MAX_SEGMENTS; i++)
		own_fd(&maps->segments[i]);
	own_fd(&maps->waiting_inner);
	own_fd(&maps->waiting);
	free(maps);
}

int unwind_maps_kernel(const struct unwind_maps_fds *fds, __u64 *changes,
		       struct unwind_maps **ret_maps)
{
	LIBBPF_OPTS(bpf_map_create_opts, options);
	own(own_unwind_maps_close) struct unwind_maps *opened = NULL;
	struct kernel_maps *maps = calloc(1, sizeof(*maps));

	if (!maps)
		return -ENOMEM;
	*maps = (struct kernel_maps){
		.maps = { .add_segments = add_segments,
			  .map = map,
			  .unmap = unmap,
			  .wait_grace = wait_grace,
			  .set_rules = set_rules,
			  .set_process = set_process,
			  .remove_process = remove_process,
			  .set_file = set_file,
			  .remove_file = remove_file,
			  .close = close_maps },
		.fds = *fds,
		.changes = changes,
		.waiting_inner = -1,
		.waiting = -1,
	};
	memset(maps->segments, 0xff, sizeof(maps->segments)); /* -1 */
	opened = &maps->maps;
	maps->waiting_inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_wait", sizeof(uint32_t),
					     sizeof(uint32_t), 1, NULL);
	if (maps->waiting_inner < 0)
		return maps->waiting_inner;
	options.inner_map_fd = (uint32_t)maps->waiting_inner;
	maps->waiting = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "unwind_waits", sizeof(uint32_t),
				       sizeof(uint32_t), 1, &options);
	if (maps->waiting < 0)
		return maps->waiting;
	*ret_maps = take_ptr(opened);
	return 0;
}
