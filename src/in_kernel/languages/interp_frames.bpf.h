/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The frames of a walk in a process with an interpreter: frames[walk_first...], walk_n of them.
 * Only these functions add frames, and each writes all that it adds: so no frame is reported that
 * another walk, maybe of another process, has left in the slot. What is changed is the last frame,
 * the one that the walk has stepped from.
 */
#ifndef STACKTALLY_LANGUAGES_INTERP_FRAMES_BPF_H
#define STACKTALLY_LANGUAGES_INTERP_FRAMES_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/hints.h"
#include "bpf/scratch.bpf.h"
#include "bpf/user_frame.bpf.h"

static __always_inline void frames_begin(struct scratch *slot, __u32 first)
{
	slot->walk_first = first;
	slot->walk_n = 0;
}

/* Adds the native frame that the walk is at. False: there is no room. */
static __always_inline bool frames_add_native(struct scratch *slot)
{
	__u32 n = slot->walk_n;

	if (n >= config.user_depth ||
	    !put_frame(slot, (__u64)slot->walk_first + n, slot->interp.n_native))
		return false;
	slot->walk_n = n + 1;
	return true;
}

/* Where the last frame is; 2 * WIRE_MAX_DEPTH: there is none. */
static __always_inline __u64 frames_last(const struct scratch *slot)
{
	__u64 at = (__u64)slot->walk_first + slot->walk_n - 1;

	return slot->walk_n && at < 2 * WIRE_MAX_DEPTH ? at : 2 * WIRE_MAX_DEPTH;
}

/* Puts a frame in place of the last one. */
static __always_inline void frames_replace(struct scratch *slot, __u64 frame)
{
	__u64 at = frames_last(slot);

	OPAQUE(at);
	if (at < 2 * WIRE_MAX_DEPTH)
		slot->frames[at] = frame;
}

/* Puts a frame before the last one, if there is room. */
static __always_inline bool frames_insert(struct scratch *slot, __u64 frame)
{
	__u64 at = frames_last(slot);
	__u32 n = slot->walk_n;

	OPAQUE(at);
	if (n >= config.user_depth || at >= 2 * WIRE_MAX_DEPTH)
		return false;
	slot->frames[at + 1] = slot->frames[at];
	slot->frames[at] = frame;
	slot->walk_n = n + 1;
	return true;
}

/* Leaves the last frame out. */
static __always_inline void frames_drop(struct scratch *slot)
{
	if (slot->walk_n)
		slot->walk_n--;
}

/*
 * Puts `n` frames of frames[STAGED_AT...], or as many as there is room for, in place of the last
 * one; behind them that one again, if `keep`.
 */
static __always_inline void frames_replace_by_staged(struct scratch *slot, __u64 n, bool keep)
{
	__u64 to = frames_last(slot), capacity = config.user_depth - slot->walk_n + 1, native, size;

	OPAQUE(to);
	if (to >= 2 * WIRE_MAX_DEPTH)
		return;
	native = slot->frames[to];
	OPAQUE(native); /* now: between a check of `size` and its use, it might be spilled */
	n = smaller(n, capacity);
	size = n * sizeof(__u64);
	OPAQUE(size);
	if (size > WIRE_MAX_DEPTH * sizeof(__u64))
		return;
	bpf_probe_read_kernel(&slot->frames[to], size, &slot->frames[STAGED_AT]);
	slot->walk_n += n - 1;
	to += n;
	OPAQUE(to);
	if (!keep || n >= capacity || to >= 3 * WIRE_MAX_DEPTH)
		return;
	slot->frames[to] = native;
	slot->walk_n++;
}

#endif
