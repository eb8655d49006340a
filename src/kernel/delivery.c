/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/delivery.h"

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

struct delivery {
	bool (*find)(void *context, uint64_t address, struct kernel_symbol *ret_symbol);
	void *context;
	bool raw;
	struct {
		uint64_t address;
		enum part part;
	} known[1 << KNOWN_BITS]; /* the last ones asked for */
};

int delivery_new(bool (*find)(void *context, uint64_t address, struct kernel_symbol *ret_symbol),
		 void *context, bool raw, struct delivery **ret_delivery)
{
	struct delivery *delivery = calloc(1, sizeof(*delivery));

	if (!delivery)
		return -ENOMEM;
	delivery->find = find;
	delivery->context = context;
	delivery->raw = raw;
	*ret_delivery = delivery;
	return 0;
}

void delivery_free(struct delivery *delivery)
{
	free(delivery);
}

static enum part look_up(const struct delivery *delivery, uint64_t return_address)
{
	struct kernel_symbol symbol;

	if (!delivery->find(delivery->context, return_address - 1, &symbol))
		return PART_NONE;
	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
		if (strncmp(symbol.name, NAMES[i].prefix, strlen(NAMES[i].prefix)) == 0)
			return NAMES[i].part;
	return PART_NONE;
}

static enum part part_of(struct delivery *delivery, uint64_t address)
{
	uint64_t at = address * 0x9e3779b97f4a7c15 >> (64 - KNOWN_BITS);

	if (delivery->known[at].address != address) {
		delivery->known[at].part = look_up(delivery, address);
		delivery->known[at].address = address;
	}
	return delivery->known[at].part;
}

uint32_t delivery_frames(struct delivery *delivery, const uint64_t *frames, uint32_t n)
{
	uint32_t most = n < DELIVERY_MAX ? n : DELIVERY_MAX, at = 0;

	if (delivery->raw) {
		/* First comes the program, whatever it is called; a second frame if interpreted. */
		for (at = 1; at < most && part_of(delivery, frames[at]) != PART_RUN; at++)
			;
		if (at >= most)
			return 0;
		at++;
		/* Not there where the compiler made its call a jump. */
		if (at < most && part_of(delivery, frames[at]) == PART_CLASS)
			at++;
	} else if (most && part_of(delivery, frames[0]) == PART_CALLS) {
		at++; /* tells calls apart */
	}
	/* Where the tracepoint has more than one probe, or the kernel no static calls. */
	if (at < most && part_of(delivery, frames[at]) == PART_ROUND)
		at++;
	return at;
}
