/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frames that tracing itself puts at the leaf end of a tracepoint's kernel stack, told by their
 * names: perf's, those of the BPF program and its callers, and the tracepoint's iterator over its
 * probes. They vary with who else uses the tracepoint, so they are cut off.
 */
#ifndef STACKTALLY_KERNEL_TRACEPOINT_FRAMES_H
#define STACKTALLY_KERNEL_TRACEPOINT_FRAMES_H

#include "kernel/kallsyms.h"

/*
 * The most there are: the program, which takes two frames where the kernel interprets it;
 * bpf_trace_runN, __bpf_trace_CLASS and __traceiter_EVENT.
 */
#define TRACEPOINT_FRAMES_MAX 5

struct tracepoint_frames;

/*
 * `find` is as kallsyms_find(); `context` is borrowed. With `raw`, stacks begin in the program of a
 * raw tracepoint, else where perf handles the tracepoint. 0 or -ENOMEM.
 */
int tracepoint_frames_new(bool (*find)(void *context, uint64_t address,
				       struct kernel_symbol *ret_symbol),
			  void *context, bool raw, struct tracepoint_frames **ret_frames);
void tracepoint_frames_free(struct tracepoint_frames *frames);

/* How many of the `n` frames, leaf first, are such frames. */
uint32_t tracepoint_frames_count(struct tracepoint_frames *frames, const uint64_t *addresses,
				 uint32_t n);

#endif
