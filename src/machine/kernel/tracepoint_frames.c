// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/tracepoint_frames.h"

#include <errno.h>
#include <stdlib.h>

#include "kernel/frame_kinds.h"

enum part {
	PART_RUN = 1,  /* runs the BPF program */
	PART_CLASS,    /* turns the arguments of an event class into numbers */
	PART_ITERATOR, /* calls the probes of the tracepoint */
	PART_SYSCALL,  /* finds the event of a single system call */
};

static const struct frame_kind NAMES[] = {
	{ "bpf_trace_run", PART_RUN },
	{ "__bpf_trace_", PART_CLASS },
	{ "__traceiter_", PART_ITERATOR },
	{ "perf_syscall_", PART_SYSCALL },
};

struct tracepoint_frames {
	struct frame_kinds kinds;
	bool raw;
};

int tracepoint_frames_new(bool (*find)(void *context, uint64_t address,
				       struct kernel_symbol *ret_symbol),
			  void *context, bool raw, struct tracepoint_frames **ret_frames)
{
	struct tracepoint_frames *state = calloc(1, sizeof(*state));

	if (!state)
		return -ENOMEM;
	state->kinds = (struct frame_kinds){ .find = find,
					     .context = context,
					     .list = NAMES,
					     .n = sizeof(NAMES) / sizeof(NAMES[0]) };
	state->raw = raw;
	*ret_frames = state;
	return 0;
}

void tracepoint_frames_free(struct tracepoint_frames *state)
{
	free(state);
}

static enum part part_of(struct tracepoint_frames *state, uint64_t address)
{
	return frame_kinds_of(&state->kinds, address);
}

uint32_t tracepoint_frames_count(struct tracepoint_frames *state, const uint64_t *addresses,
				 uint32_t n)
{
	uint32_t most = n < TRACEPOINT_FRAMES_MAX ? n : TRACEPOINT_FRAMES_MAX, at = 0;

	if (state->raw) {
		/* One frame of the program, whatever its name; two if it is interpreted. */
		for (at = 1; at < most && part_of(state, addresses[at]) != PART_RUN; at++)
			;
		if (at >= most)
			return 0;
		at++;
		/* Missing where the compiler made a tail call. */
		if (at < most && part_of(state, addresses[at]) == PART_CLASS)
			at++;
	} else if (most && part_of(state, addresses[0]) == PART_SYSCALL) {
		at++;
	}
	/* Only if the tracepoint has several probes, or the kernel no static calls. */
	if (at < most && part_of(state, addresses[at]) == PART_ITERATOR)
		at++;
	return at;
}
