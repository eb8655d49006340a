// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/interrupt_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_BITS 8

enum part {
	PART_NONE,
	PART_ENTRY, /* of an interrupt */
	PART_TIMER, /* runs timers */
};

/* Since Linux 5.8, entries of interrupts have these names (arch/x86/include/asm/idtentry.h). */
static const struct {
	const char *prefix;
	enum part part;
} NAMES[] = {
	{ "asm_sysvec_", PART_ENTRY },
	{ "asm_common_interrupt", PART_ENTRY },
	{ "asm_spurious_interrupt", PART_ENTRY },
	{ "hrtimer_interrupt", PART_TIMER },
	{ "__hrtimer_run_queues", PART_TIMER },
	{ "hrtimer_run_queues", PART_TIMER },
	{ "call_timer_fn", PART_TIMER },
	{ "run_timer_", PART_TIMER },
	{ "__run_timers", PART_TIMER },
};

struct interrupt_frames {
	bool (*find)(void *context, uint64_t address, struct kernel_symbol *ret_symbol);
	void *context;
	struct {
		uint64_t address;
		enum part part;
	} cache[1 << CACHE_BITS]; /* by a hash of the address */
};

int interrupt_frames_new(bool (*find)(void *context, uint64_t address,
				      struct kernel_symbol *ret_symbol),
			 void *context, struct interrupt_frames **ret_frames)
{
	struct interrupt_frames *frames = calloc(1, sizeof(*frames));

	if (!frames)
		return -ENOMEM;
	frames->find = find;
	frames->context = context;
	*ret_frames = frames;
	return 0;
}

void interrupt_frames_free(struct interrupt_frames *frames)
{
	free(frames);
}

static enum part look_up(const struct interrupt_frames *frames, uint64_t return_address)
{
	struct kernel_symbol symbol;

	if (!frames->find(frames->context, return_address - 1, &symbol))
		return PART_NONE;
	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
		if (strncmp(symbol.name, NAMES[i].prefix, strlen(NAMES[i].prefix)) == 0)
			return NAMES[i].part;
	return PART_NONE;
}

static enum part part_of(struct interrupt_frames *frames, uint64_t address)
{
	uint64_t at = address * 0x9e3779b97f4a7c15 >> (64 - CACHE_BITS);

	if (frames->cache[at].address != address) {
		frames->cache[at].part = look_up(frames, address);
		frames->cache[at].address = address;
	}
	return frames->cache[at].part;
}

uint32_t interrupt_frames_count(struct interrupt_frames *frames, const uint64_t *addresses,
				uint32_t n, bool *ret_timer)
{
	*ret_timer = false;
	for (uint32_t i = 0; i < n; i++) {
		enum part part = part_of(frames, addresses[i]);

		*ret_timer |= part == PART_TIMER;
		if (part == PART_ENTRY)
			return i + 1;
	}
	return 0;
}
