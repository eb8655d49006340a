// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/interrupt_frames.h"

#include <errno.h>
#include <stdlib.h>

#include "kernel/frame_kinds.h"

enum part {
	PART_ENTRY = 1, /* of an interrupt */
	PART_TIMER,	/* runs timers */
};

/* Since Linux 5.8, entries of interrupts have these names (arch/x86/include/asm/idtentry.h). */
static const struct frame_kind NAMES[] = {
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
	struct frame_kinds kinds;
};

int interrupt_frames_new(bool (*find)(void *context, uint64_t address,
				      struct kernel_symbol *ret_symbol),
			 void *context, struct interrupt_frames **ret_frames)
{
	struct interrupt_frames *frames = calloc(1, sizeof(*frames));

	if (!frames)
		return -ENOMEM;
	frames->kinds = (struct frame_kinds){ .find = find,
					      .context = context,
					      .list = NAMES,
					      .n = sizeof(NAMES) / sizeof(NAMES[0]) };
	*ret_frames = frames;
	return 0;
}

void interrupt_frames_free(struct interrupt_frames *frames)
{
	free(frames);
}

uint32_t interrupt_frames_count(struct interrupt_frames *frames, const uint64_t *addresses,
				uint32_t n, bool *ret_timer)
{
	*ret_timer = false;
	for (uint32_t i = 0; i < n; i++) {
		uint8_t part = frame_kinds_of(&frames->kinds, addresses[i]);

		*ret_timer |= part == PART_TIMER;
		if (part == PART_ENTRY)
			return i + 1;
	}
	return 0;
}
