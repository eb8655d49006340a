/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The frame that a walk by unwinding tables is at, as it is sent.
 */
#ifndef STACKTALLY_BPF_USER_FRAME_BPF_H
#define STACKTALLY_BPF_USER_FRAME_BPF_H

#include "bpf/hints.h"
#include "bpf/scratch.bpf.h"

/*
 * Writes the frame that the walk is at, the `n`th, to frames[at]. Returns how many were written: 1,
 * or 0 when there is no room.
 */
static __always_inline __u32 put_frame(struct scratch *slot, __u64 at, __u64 n)
{
	const struct unwind_walk *walk = &slot->walk;
	__u64 is_caller;

	OPAQUE(at);
	if (at >= 2 * WIRE_MAX_DEPTH)
		return 0;
	/* All factors are 0 or 1. Without a branch, the verifier has one path from here. */
	OPAQUE(n);
	is_caller = -n >> 63;
	/* In the page of vsyscalls, all the bits above are set. */
	slot->frames[at] = (walk->pc & WIRE_FRAME_ADDRESS) |
			   (is_caller & walk->exact) * WIRE_FRAME_EXACT |
			   walk->by_chain * WIRE_FRAME_POINTER;
	return 1;
}

/* Usual steps that one call of a function takes. */
#define USUAL_STEPS 7
/* Other steps of one call of another function, between runs of usual ones, and its calls. */
#define WALK_STEPS  4
#define WALK_ROUNDS 16

#endif
