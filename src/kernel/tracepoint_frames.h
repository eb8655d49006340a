/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frames of a kernel stack between the code that has a tracepoint and what was hung on the
 * tracepoint, told by their names. They belong to how events are looked at, not to what the kernel
 * did, and differ with how many others look.
 *
 * Must not know: BPF objects, triggers, tallies.
 */
#ifndef STACKTALLY_KERNEL_TRACEPOINT_FRAMES_H
#define STACKTALLY_KERNEL_TRACEPOINT_FRAMES_H

#include "kernel/kallsyms.h"

/*
 * The most there are: the program (two frames where the kernel interprets it), bpf_trace_runN,
 * __bpf_trace_CLASS and __traceiter_EVENT.
 */
#define TRACEPOINT_FRAMES_MAX 5

struct tracepoint_frames;

/*
 * `find` as kallsyms_find(); it is asked once for each of the few addresses that matter. `raw`:
 * walks begin in the program of a raw tracepoint; else where a perf event's record is made.
 * `context` must outlive it.
 */
int tracepoint_frames_new(bool (*find)(void *context, uint64_t address,
				       struct kernel_symbol *ret_symbol),
			  void *context, bool raw, struct tracepoint_frames **ret_frames);
void tracepoint_frames_free(struct tracepoint_frames *known);

/* How many of the `n` frames, leaf first, these are. */
uint32_t tracepoint_frames_count(struct tracepoint_frames *known, const uint64_t *frames,
				 uint32_t n);

#endif
