/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/tracepoint_frames.h"

#include <errno.h>
#include <string.h>

#define KNOWN_BITS 8

enum part {
	PART_NONE, /* the code that was hit, or what called it */
	PART_RUN,
	PART_CLASS,
	PART_ROUND,
	PART_CALLS,
};

static const struct {
	const char *prefix;
	enum part part;
} NAMES[] = {
	{ "bpf_trace_run", PART_RUN },
	{ "__bpf_trace_", PART_CLASS },
	{ "__traceiter_", PART_ROUND },
	{ "perf_syscall_", PART_CALLS },
};

struct tracepoint_frames {
	bool (*find)(void *context, uint64_t address, struct kernel_symbol *ret_symbol);
	void *context;
	bool raw;
	struct {
		uint64_t address;
		enum part part;
	} asked[1 << KNOWN_BITS]; /* the last ones asked for */
};

int tracepoint_frames_new(bool (*find)(void *context, uint64_t address,
				       struct kernel_symbol *ret_symbol),
			  void *context, bool raw, struct tracepoint_frames **ret_frames)
{
	struct tracepoint_frames *known = calloc(1, sizeof(*known));

	if (!known)
		return -ENOMEM;
	known->find = find;
	known->context = context;
	known->raw = raw;
	*ret_frames = known;
	return 0;
}

void tracepoint_frames_free(struct tracepoint_frames *known)
{
	free(known);
}

static enum part look_up(const struct tracepoint_frames *known, uint64_t return_address)
{
	struct kernel_symbol symbol;

	if (!known->find(known->context, return_address - 1, &symbol))
		return PART_NONE;
	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
		if (strncmp(symbol.name, NAMES[i].prefix, strlen(NAMES[i].prefix)) == 0)
			return NAMES[i].part;
	return PART_NONE;
}

static enum part part_of(struct tracepoint_frames *known, uint64_t address)
{
	uint64_t at = address * 0x9e3779b97f4a7c15 >> (64 - KNOWN_BITS);

	if (known->asked[at].address != address) {
		known->asked[at].part = look_up(known, address);
		known->asked[at].address = address;
	}
	return known->asked[at].part;
}

uint32_t tracepoint_frames_count(struct tracepoint_frames *known, const uint64_t *frames,
				 uint32_t n)
{
	uint32_t most = n < TRACEPOINT_FRAMES_MAX ? n : TRACEPOINT_FRAMES_MAX, at = 0;

	if (known->raw) {
		/* First comes the program, whatever it is called; a second frame if interpreted. */
		for (at = 1; at < most && part_of(known, frames[at]) != PART_RUN; at++)
			;
		if (at >= most)
			return 0;
		at++;
		/* Not there where the compiler made its call a jump. */
		if (at < most && part_of(known, frames[at]) == PART_CLASS)
			at++;
	} else if (most && part_of(known, frames[0]) == PART_CALLS) {
		at++; /* tells calls apart */
	}
	/* Where the tracepoint has more than one probe, or the kernel no static calls. */
	if (at < most && part_of(known, frames[at]) == PART_ROUND)
		at++;
	return at;
}
