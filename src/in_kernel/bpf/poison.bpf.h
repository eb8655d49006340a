/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * For tests (`make poisoned`): before each walk, everything in the scratch slot that only the last
 * walk may have written is overwritten. A frame that a walk reports but has not written is shown as
 * "[program: name lost]", which nothing else is. In other builds this does nothing, and what a
 * slot has from an earlier walk, of whatever process, is still there.
 */
#ifndef STACKTALLY_BPF_POISON_BPF_H
#define STACKTALLY_BPF_POISON_BPF_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/scratch.bpf.h"

#ifdef POISON_SCRATCH
#define POISON_WORDS (8 * WIRE_MAX_DEPTH)

_Static_assert(POISON_WORDS <= SCRATCH_WORDS, "they are in the slot");

/* A frame of a function without a language. As an address, it leads nowhere. */
static const __u64 poison_words[POISON_WORDS] = {
	[0 ... POISON_WORDS - 1] = WIRE_FRAME_SCRIPT | (WIRE_SCRIPT_IDS - 1),
};

#define POISON(member)                                                                             \
	do {                                                                                       \
		_Static_assert(sizeof(member) <= sizeof(poison_words), "there are enough words");  \
		bpf_probe_read_kernel(&(member), sizeof(member), poison_words);                    \
	} while (0)

static __always_inline void poison(struct scratch *slot)
{
	bpf_probe_read_kernel(slot->frames, sizeof(poison_words), poison_words);
	POISON(slot->window.bytes);
	POISON(slot->interp.window.bytes);
	POISON(slot->interp.code);
	POISON(slot->interp.message);
	for (__u32 i = 0; i < WIRE_PROCESS_INTERPRETERS; i++)
		POISON(slot->kept[i].staged);
}
#else
static __always_inline void poison(struct scratch *slot)
{
	(void)slot;
}
#endif

#endif
