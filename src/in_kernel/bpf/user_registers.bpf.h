/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The user registers that a walk begins with: those of the event if it hit user code, else those
 * that the kernel saved when it was entered.
 */
#ifndef STACKTALLY_BPF_USER_REGISTERS_BPF_H
#define STACKTALLY_BPF_USER_REGISTERS_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "arch/kernel.h"
#include "arch/pt_regs.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/scratch.bpf.h"
#include "bpf/task.bpf.h"

/*
 * In place of an enum wire_end: the task runs in the kernel only. Workers that the kernel makes for
 * a process (io_uring's, vhost's) are threads of it, and kernel threads may borrow its memory; the
 * kernel begins both with these two registers cleared.
 */
#define NO_USER_SIDE WIRE_N_ENDS

/* Uses what is above. */
#include "arch/user_registers.bpf.h"

/* Where the kernel saved the user registers of the current task. */
static __always_inline const void *saved_registers(const struct task_struct *task)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return (const void *)bpf_task_pt_regs((void *)bpf_get_current_task_btf());
	return saved_at(task);
}

/* As user_registers(), of registers that the kernel saved `at` an address; `saved` is room. */
static __always_inline __u32 take_saved_registers(const void *at, struct pt_regs *saved,
						  struct unwind_walk *walk, __u64 *ret_mode)
{
	if (bpf_probe_read_kernel(saved, sizeof(*saved), at))
		return WIRE_END_REGISTERS;
	if (saved_are_none(saved))
		return NO_USER_SIDE;
	TAKE_REGISTERS(walk, saved);
	*ret_mode = mode_of(saved);
	walk->exact = saved_are_exact(at, saved);
	return WIRE_END_NONE;
}

/*
 * Whether the current task's process may have probes. A global function: where the verifier meets a
 * pointer that is loaded from the task, it searches all types of the kernel for four names, 0.35
 * ms.
 */
__noinline int may_have_probes(void)
{
	const struct mm_struct *mm = TASK_FIELD(current_task(), TASK_CURRENT, mm);
	const struct mm_struct___6_18 *since_6_18 = (const void *)mm;
	unsigned long flags = 0;

	if (bpf_core_field_exists(since_6_18->flags.__mm_flags))
		flags = TASK_FIELD(since_6_18, TASK_CURRENT, flags.__mm_flags[0]);
	else if (bpf_core_field_exists(mm->flags))
		flags = TASK_FIELD(mm, TASK_CURRENT, flags);
	return !!(flags & MM_HAS_UPROBES);
}

/*
 * A thread that has run into a probe's breakpoint stands behind it until the kernel takes it back,
 * and may wait for a CPU there. Moves the walk to the probed instruction. Padding before a function
 * may consist of breakpoints, too: more than one, but for a rare byte.
 */
static __always_inline void leave_breakpoint(struct unwind_walk *walk)
{
	__u8 code[2] = { 0 };

	if (!walk->exact || !may_have_probes())
		return;
	if (bpf_probe_read_user(code, sizeof(code), (void *)(walk->pc - sizeof(code))))
		return;
	if (code[1] == BREAKPOINT && code[0] != BREAKPOINT && !did_probed_push(walk))
		walk->pc--;
}

/*
 * Puts the user registers into the slot's walk: those of `ctx` if `in_user`, else the saved ones.
 * WIRE_END_NONE, WIRE_END_REGISTERS (not to be had), WIRE_END_COMPAT (a 32-bit process) or
 * NO_USER_SIDE.
 */
static __always_inline __u32 user_registers(const struct pt_regs *ctx, bool in_user,
					    const struct task_struct *task, struct scratch *slot)
{
	struct unwind_walk *walk = &slot->walk;
	__u64 mode = 0;

	walk->exact = 1;
	if (in_user) {
		TAKE_REGISTERS(walk, ctx);
		mode = mode_of(ctx);
	} else {
		__u32 end =
			take_saved_registers(saved_registers(task), &slot->registers, walk, &mode);

		if (end)
			return end;
		if (BREAKPOINT)
			leave_breakpoint(walk);
	}
	return end_of_mode(mode);
}

/*
 * The kernel executes an instruction that a uprobe replaced out of line, in [uprobes]. If the walk
 * begins there, moves it to the probed instruction and returns true.
 */
static __always_inline bool was_out_of_line(const struct task_struct *task,
					    struct unwind_walk *walk)
{
	const struct uprobe_task *probed = NULL;
	__u64 copy, offset;

	if (!bpf_core_field_exists(task->utask) || !bpf_core_field_exists(probed->xol_vaddr))
		return false;
	probed = BPF_CORE_READ(task, utask);
	if (!probed)
		return false;
	copy = BPF_CORE_READ(probed, xol_vaddr);
	offset = walk->pc - copy;
	if (!copy || offset >= XOL_SLOT)
		return false;
	walk->pc = BPF_CORE_READ(probed, vaddr) + offset;
	walk->exact = 1;
	return true;
}

#endif
