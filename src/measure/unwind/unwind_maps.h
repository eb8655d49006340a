/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the tables of bpf/unwind_wire.h are stored: for programs, in BPF maps
 * (unwind_maps_kernel()); tests store them in plain memory (tests/walks/in_memory/memory_maps.h).
 *
 * Several threads may call `wait_grace`, and one `map` or `unmap` at any time; each other function
 * is for one thread at a time. Must not know: what is in a block.
 */
#ifndef STACKTALLY_UNWIND_UNWIND_MAPS_H
#define STACKTALLY_UNWIND_UNWIND_MAPS_H

#include <stdint.h>

#include "base/own.h"
#include "bpf/unwind_wire.h"

#define UNWIND_SEGMENT_SIZE  ((size_t)WIRE_SEGMENT_BLOCKS * WIRE_BLOCK_SIZE)
#define UNWIND_WINDOW_BLOCKS 16u /* 64 KiB: a page or more, and a part of a segment */
#define UNWIND_WINDOW_SIZE   ((size_t)UNWIND_WINDOW_BLOCKS * WIRE_BLOCK_SIZE)

/* All functions that return an int return 0 or a negative errno. */
struct unwind_maps {
	/*
	 * Adds `n` segments of zeros with the numbers from `first` on, visible to walks. May wait
	 * for the grace period of the call before.
	 */
	int (*add_segments)(struct unwind_maps *maps, uint32_t first, uint32_t n);
	/*
	 * The memory of UNWIND_WINDOW_BLOCKS blocks from `first` on, a multiple of that number, in
	 * a segment that was added; readable and writable until it is given to unmap(). NULL when
	 * out of memory.
	 */
	void *(*map)(struct unwind_maps *maps, uint32_t first);
	void (*unmap)(struct unwind_maps *maps, void *memory);
	/* Waits for a grace period: until all walks that began before this call have ended. */
	int (*wait_grace)(struct unwind_maps *maps);
	int (*set_rules)(struct unwind_maps *maps, uint32_t first, const struct wire_rule *rules,
			 uint32_t n);
	/* -E2BIG: there are WIRE_MAX_PROCESSES others. */
	int (*set_process)(struct unwind_maps *maps, uint32_t tgid,
			   const struct wire_process *process);
	void (*remove_process)(struct unwind_maps *maps, uint32_t tgid);
	/* Enters a file; nothing happens when there are WIRE_MAX_FILES others. */
	void (*set_file)(struct unwind_maps *maps, const struct wire_file *file,
			 const struct wire_file_table *table);
	void (*remove_file)(struct unwind_maps *maps, const struct wire_file *file);
	void (*close)(struct unwind_maps *maps);
};

/* The maps of bpf/unwind_tables.bpf.h. */
struct unwind_maps_fds {
	int segments, rules, processes, files;
};

/*
 * Stores in these maps, and counts changes in unwind_changes, which is at `changes`. All are
 * borrowed until close(). 0 or a negative errno.
 */
int unwind_maps_kernel(const struct unwind_maps_fds *fds, __u64 *changes,
		       struct unwind_maps **ret_maps);

/*
 * Creates a map as unwind_segments holds them; it also is the template with which unwind_segments
 * is created. A descriptor that the caller closes, or a negative errno.
 */
int unwind_maps_new_segment(void);

/* NULL is allowed. */
static inline void unwind_maps_close(struct unwind_maps *maps)
{
	if (maps)
		maps->close(maps);
}
DEFINE_OWN(struct unwind_maps, unwind_maps_close)

#endif
