/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a kernel stack is that of an interrupt, told by the names of its functions: what is below
 * the interrupt's entry has nothing to do with it.
 */
#ifndef STACKTALLY_KERNEL_INTERRUPT_FRAMES_H
#define STACKTALLY_KERNEL_INTERRUPT_FRAMES_H

#include "kernel/kallsyms.h"

struct interrupt_frames;

/* `find` is as kallsyms_find(); `context` is borrowed. 0 or -ENOMEM. */
int interrupt_frames_new(bool (*find)(void *context, uint64_t address,
				      struct kernel_symbol *ret_symbol),
			 void *context, struct interrupt_frames **ret_frames);
void interrupt_frames_free(struct interrupt_frames *frames);

/*
 * How many of the `n` frames, return addresses and leaf first, are those of an interrupt, with its
 * entry; 0: it is a task's stack. Tells whether a timer went off.
 */
uint32_t interrupt_frames_count(struct interrupt_frames *frames, const uint64_t *addresses,
				uint32_t n, bool *ret_timer);

#endif
