/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Copies of user stacks, for user space to finish walks that ended for want of a mapping or a table
 * (unwind/finish.h).
 */
#ifndef STACKTALLY_BPF_STACK_COPY_BPF_H
#define STACKTALLY_BPF_STACK_COPY_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "bpf/hints.h"
#include "bpf/kernel.bpf.h"
#include "bpf/return_probe.bpf.h"
#include "bpf/scratch.bpf.h"
#include "bpf/unwind_step.bpf.h"

/* Whether user space may know, or learn soon, what a walk that ended so was missing. */
static __always_inline bool stack_copy_helps(__u32 end)
{
	return end == WIRE_END_NO_PROCESS || end == WIRE_END_NO_MAPPING ||
	       end == WIRE_END_PENDING || end == WIRE_END_STALE || end == WIRE_END_EVICTED;
}

/*
 * Copies are rationed on each slot: a burst, for a program that starts or a library that is loaded,
 * then one per STACK_COPY_NS. That covers all samples at usual rates, and is no more than user
 * space can process.
 */
#define STACK_COPY_BURST 1024
#define STACK_COPY_NS	 500000ull

/* Takes one copy from the ration; false when none is left. */
static __always_inline bool stack_copy_is_affordable(struct scratch *slot)
{
	__u64 now = bpf_ktime_get_ns(), earned = (now - slot->copies_since) / STACK_COPY_NS;

	if (earned) {
		slot->copies_since = now;
		slot->copies_left = slot->copies_left + earned > STACK_COPY_BURST
					    ? STACK_COPY_BURST
					    : slot->copies_left + earned;
	}
	if (slot->copies_left == 0)
		return false;
	slot->copies_left--;
	return true;
}

/*
 * The bytes of the stack that a walk from `from` may read. The kernel puts a program's arguments
 * and environment above where its first frame begins.
 */
static __always_inline __u64 stack_copy_size(__u64 from)
{
	const struct task_struct *task = (void *)bpf_get_current_task();
	__u64 size = BPF_CORE_READ(task, mm, start_stack) - from;

	return smaller(size & ~(1ull << 63), WIRE_REST_MAX);
}

/*
 * Appends struct wire_rest and the copy to the slot's frames, of which `words` are in use. Returns
 * how many bytes that takes; 0: there is no room. A global function, which the verifier checks
 * once.
 */
__noinline int stack_copy_append(__u32 number, __u32 words)
{
	struct scratch *slot = seldom_slot(number);
	__u64 from, at = words * sizeof(__u64), size = 0, most;
	struct wire_rest *rest;

	if (!slot)
		return 0;
	from = slot->walk.registers[UNWIND_SP];
	most = stack_copy_size(from);
	OPAQUE(at);
	if (at > sizeof(slot->frames) - sizeof(*rest) - WIRE_REST_PAGE)
		return 0;
	rest = (void *)slot->frames + at;
	rest->runs = slot->rest_runs;
	rest->walk = slot->walk;
	rest->luajit_frame = luajit_frame(from);
	at += sizeof(*rest) + (__u64)slot->rest_runs * sizeof(__u64);
	OPAQUE(at);
	for (__u32 i = 0; i <= WIRE_REST_MAX / WIRE_REST_PAGE; i++) {
		__u64 in_page = WIRE_REST_PAGE - ((from + size) & (WIRE_REST_PAGE - 1));
		__u64 chunk = smaller(in_page, most - size);
		__u64 to = at + size;

		if (chunk == 0)
			break;
		OPAQUE(to);
		OPAQUE(chunk); /* else both its bounds become one of chunk - 1 */
		if (to > sizeof(slot->frames) - WIRE_REST_PAGE || chunk > WIRE_REST_PAGE)
			break;
		if (bpf_probe_read_user((void *)slot->frames + to, chunk,
					(const void *)(from + size)))
			break;
		size += chunk;
	}
	rest->size = (__u32)size;
	restore_returns(number, (__u32)(at / sizeof(__u64)), (__u32)(size / sizeof(__u64)), from);
	return sizeof(*rest) + slot->rest_runs * sizeof(__u64) + size;
}

#endif
