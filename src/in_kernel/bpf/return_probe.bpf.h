/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Probes on the return of functions, ours and those of others. While such a function runs, the
 * kernel's trampoline in [uprobes] is in the place of its return address. The kernel keeps the
 * address in the task's list of return instances, with the place that it was taken from.
 */
#ifndef STACKTALLY_BPF_RETURN_PROBE_BPF_H
#define STACKTALLY_BPF_RETURN_PROBE_BPF_H

#include "arch/kernel.h"
#include "bpf/hints.h"
#include "bpf/kernel.bpf.h"
#include "bpf/scratch.bpf.h"
#include "bpf/task.bpf.h"

#define RETURNS_PENDING 64 /* MAX_URETPROBE_DEPTH */
/* Bytes from the place of a return address to the stack pointer behind the return. */
#define RETURN_SIZE sizeof(__u64)

/*
 * Begins with the current task's return instances, the last call first. There are none if the walk
 * is of another process.
 */
static __always_inline void pending_begin(struct scratch *slot)
{
	const struct task_struct *task = current_task();
	const struct uprobe_task *probed = NULL;

	slot->pending.next = 0;
	if (slot->walk.tgid != bpf_get_current_pid_tgid() >> 32 ||
	    !bpf_core_field_exists(task->utask) || !bpf_core_field_exists(probed->return_instances))
		return;
	probed = BPF_CORE_READ(task, utask);
	if (probed)
		slot->pending.next = (__u64)BPF_CORE_READ(probed, return_instances);
}

/*
 * Reads the next return instance; 0: there is none. A global function: the verifier checks it once,
 * not in each round of the loops that call it.
 */
__noinline int pending_read(__u32 number)
{
	struct scratch *slot = seldom_slot(number);
	const struct return_instance *pending;

	pending = slot ? (const void *)slot->pending.next : NULL;
	if (!pending)
		return 0;
	slot->pending.stack = BPF_CORE_READ(pending, stack);
	slot->pending.caller = BPF_CORE_READ(pending, orig_ret_vaddr);
	slot->pending.next = (__u64)BPF_CORE_READ(pending, next);
	return 1;
}

/* The walk's offset in the trampoline, if it is there: a caller's address is its first byte. */
static __always_inline bool at_trampoline(const struct unwind_walk *walk, __u64 *ret_offset)
{
	const struct xol_area *area;
	__u64 offset;

	area = BPF_CORE_READ(current_task(), mm, uprobes_state.xol_area);
	if (!area)
		return false;
	offset = walk->pc - BPF_CORE_READ(area, vaddr);
	*ret_offset = offset;
	return walk->exact ? offset < XOL_SLOT : offset == 0 || offset == ARCH_RETURN_CALLED;
}

/* How walks end at the trampoline, among others. */
static __always_inline bool may_be_trampoline(__u32 end)
{
	return end == WIRE_END_NO_MAPPING || end == WIRE_END_SPECIAL;
}

/*
 * If a walk ended with `end` because it is at the trampoline, moves it to the address in whose
 * place that is, and returns 1: the last frame is to be walked again. Instances that a longjmp()
 * left behind have another place. A thread that runs the trampoline may have words on the stack; it
 * has taken the return itself when no instance has the place. A global function: the verifier
 * checks it once.
 */
__noinline int take_pending_return(__u32 number, __u32 end)
{
	struct scratch *slot = seldom_slot(number);
	__u64 sp, pushed, offset = 0, caller = 0;

	if (!slot || !may_be_trampoline(end) || !at_trampoline(&slot->walk, &offset))
		return 0;
	sp = slot->walk.registers[UNWIND_SP];
	pushed = ARCH_RETURN_PUSHED(offset);
	pending_begin(slot);
	for (__u32 i = 0; i < RETURNS_PENDING && pending_read(number); i++) {
		__u64 behind = slot->pending.stack + RETURN_SIZE;

		/* The system call works on the stack as it was before the trampoline. */
		if (behind == sp + pushed || behind == sp) {
			slot->walk.pc = slot->pending.caller;
			slot->walk.registers[UNWIND_SP] = behind;
			slot->walk.exact = 0;
			return 1;
		}
	}
	if (offset < ARCH_RETURN_CALLED ||
	    bpf_probe_read_user(&caller, sizeof(caller), (void *)(sp + pushed - RETURN_SIZE)))
		return 0;
	slot->walk.pc = caller;
	slot->walk.registers[UNWIND_SP] = sp + pushed;
	slot->walk.exact = 0;
	return 1;
}

/*
 * Puts the address of the next pending return where a copy of a stack has the trampoline's:
 * frames[at] is the first of its `words`, which the stack has at `from`. 0: there is none.
 */
__noinline int restore_return(__u32 number, __u32 at, __u32 words, __u64 from)
{
	struct scratch *slot = seldom_slot(number);
	__u64 to;

	if (!slot || !pending_read(number))
		return 0;
	to = (slot->pending.stack - from) / sizeof(__u64);
	if (to >= words)
		return 1;
	to += at;
	OPAQUE(to);
	if (to < SCRATCH_WORDS)
		slot->frames[to] = slot->pending.caller;
	return 1;
}

/* The same for all of them. */
__noinline int restore_returns(__u32 number, __u32 at, __u32 words, __u64 from)
{
	struct scratch *slot = seldom_slot(number);

	if (!slot)
		return 0;
	pending_begin(slot);
	for (__u32 i = 0; i < RETURNS_PENDING; i++)
		if (!restore_return(number, at, words, from))
			break;
	return 0;
}

#endif
