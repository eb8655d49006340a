/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Probes on the return of functions, ours and those of others. While such a function runs, the
 * kernel's trampoline in [uprobes] is in the place of its return address. The kernel keeps the
 * address in the task's list of return instances, with the place that it was taken from.
 */
#ifndef STACKTALLY_BPF_RETURN_PROBE_BPF_H
#define STACKTALLY_BPF_RETURN_PROBE_BPF_H

#include "bpf/hints.h"
#include "bpf/kernel.bpf.h"
#include "bpf/scratch.bpf.h"
#include "bpf/task.bpf.h"

#define RETURNS_PENDING 64 /* MAX_URETPROBE_DEPTH */
/* Bytes from the place of a return address to the stack pointer behind the return. */
#define RETURN_SIZE sizeof(__u64)

/*
 * The first of the task's return instances, if the walk is at the trampoline: a caller's address is
 * its first byte; what was interrupted there is any of its bytes. Else NULL.
 */
static __always_inline const struct return_instance *pending_returns(const struct unwind_walk *walk)
{
	const struct task_struct *task = current_task();
	const struct uprobe_task *probed = NULL;
	const struct xol_area *area;
	__u64 offset;

	if (!bpf_core_field_exists(task->utask) || !bpf_core_field_exists(probed->return_instances))
		return NULL;
	area = BPF_CORE_READ(task, mm, uprobes_state.xol_area);
	if (!area)
		return NULL;
	offset = walk->pc - BPF_CORE_READ(area, vaddr);
	if (offset >= (walk->exact ? XOL_SLOT : 1))
		return NULL;
	probed = BPF_CORE_READ(task, utask);
	return probed ? BPF_CORE_READ(probed, return_instances) : NULL;
}

/*
 * If a walk ended with `end` because it is at the trampoline, moves it to the address in whose
 * place that is, and returns 1: the last frame is to be walked again. Instances that a longjmp()
 * left behind have another place. A thread that runs the trampoline returns from the function of
 * the first. A global function: the verifier checks it once.
 */
__noinline int take_pending_return(__u32 number, __u32 end)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	const struct return_instance *pending;
	__u64 place;

	if (!slot || (end != WIRE_END_NO_MAPPING && end != WIRE_END_SPECIAL) ||
	    slot->walk.tgid != bpf_get_current_pid_tgid() >> 32)
		return 0;
	pending = pending_returns(&slot->walk);
	place = slot->walk.registers[UNWIND_SP] - RETURN_SIZE;
	if (slot->walk.exact && pending)
		place = BPF_CORE_READ(pending, stack);
	for (__u32 i = 0; i < RETURNS_PENDING && pending; i++) {
		if (BPF_CORE_READ(pending, stack) == place) {
			slot->walk.pc = BPF_CORE_READ(pending, orig_ret_vaddr);
			slot->walk.registers[UNWIND_SP] = place + RETURN_SIZE;
			slot->walk.exact = 0;
			return 1;
		}
		pending = BPF_CORE_READ(pending, next);
	}
	return 0;
}

#endif
