/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the tables of bpf/unwind_wire.h stand: in BPF maps (unwind_maps_kernel()), where the
 * programs read them, or in plain memory (unwind_maps_memory()), where the same walk, compiled
 * natively, and tests do. The tables are written without knowing which.
 *
 * `settle` may be called by several threads at a time, the others by one each.
 * Must not know: what is in the blocks.
 */
#ifndef STACKTALLY_UNWIND_KERNEL_MAPS_H
#define STACKTALLY_UNWIND_KERNEL_MAPS_H

#include <stdint.h>

#include "bpf/unwind_wire.h"

#define UNWIND_SEGMENT_SIZE ((size_t)WIRE_SEGMENT_BLOCKS * WIRE_BLOCK_SIZE)

struct unwind_maps {
	/*
	 * Puts `n` empty segments at the numbers from `first` on; gives their memory, which is
	 * readable and writable until close(). Walks see them; an earlier call's may make it wait
	 * for a grace period.
	 */
	int (*add_segments)(struct unwind_maps *maps, uint32_t first, uint32_t n,
			    void **ret_memory);
	/* Waits until no walk that began before is still under way. */
	int (*settle)(struct unwind_maps *maps);
	int (*set_rules)(struct unwind_maps *maps, uint32_t first, const struct wire_rule *rules,
			 uint32_t n);
	/* -E2BIG when there are too many processes already. */
	int (*set_process)(struct unwind_maps *maps, uint32_t tgid,
			   const struct wire_process *process);
	void (*remove_process)(struct unwind_maps *maps, uint32_t tgid);
	void (*close)(struct unwind_maps *maps);
};

/*
 * Descriptors of an ARRAY_OF_MAPS of `segments` (BPF_F_MMAPABLE ARRAYs of WIRE_SEGMENT_BLOCKS
 * values of WIRE_BLOCK_SIZE), of the ARRAY of rules and of the HASH of processes, and where the
 * programs see that this one was changed (unwind_changes): borrowed, they must stay until close().
 * 0 or -ENOMEM.
 */
int unwind_maps_kernel(int segments, int rules, int processes, __u64 *changes,
		       struct unwind_maps **ret_maps);

/*
 * A segment as the outer map wants it; also as the template with which that is created. A
 * descriptor, or a negative errno.
 */
int unwind_maps_new_segment(void);

/* In plain memory, for tests and for walks of our own. 0 or -ENOMEM. */
int unwind_maps_memory(struct unwind_maps **ret_maps);

/* NULL is allowed. */
static inline void unwind_maps_close(struct unwind_maps *maps)
{
	if (maps)
		maps->close(maps);
}

#endif
