/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * User stacks by the chain of frame pointers (--unwind=fp), as bpf_get_stack() walks them.
 *
 * The helper opens user memory twice a frame, and takes more than twice as long; it is called only
 * for 32-bit code. Unlike the helper, a frame pointer below the stack pointer is not followed: it
 * cannot be one, so this code keeps none.
 */
#ifndef STACKTALLY_BPF_FRAME_POINTERS_BPF_H
#define STACKTALLY_BPF_FRAME_POINTERS_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "arch/registers.h"
#include "bpf/hints.h"
#include "bpf/kernel.bpf.h"
#include "bpf/scratch.bpf.h"
#include "bpf/stack_helper.bpf.h"
#include "bpf/user_registers.bpf.h"
#include "bpf/window.bpf.h"

#define CHAIN_STEPS 16

/*
 * Writes up to `most` callers to frames[first...]; returns how many. A global function, which the
 * verifier checks once.
 */
__noinline int chain_some(__u32 number, __u32 first, __u32 most)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	__u64 fp, saved[2];
	__u32 n = 0;

	if (!slot)
		return 0;
	fp = slot->walk.registers[UNWIND_FP];
	for (; n < CHAIN_STEPS && n < most; n++) {
		__u64 at = (__u64)first + n;

		/* Not a frame; and reading there would cost a page fault. */
		if (fp < UNWIND_MIN_PC || fp & 7)
			break;
		if (window_read(slot, number, saved, sizeof(saved), fp))
			break;
		OPAQUE(at);
		if (at >= 2 * WIRE_MAX_DEPTH)
			break;
		slot->frames[at] = ARCH_CODE_ADDRESS(saved[1], config.address_bits);
		fp = saved[0];
	}
	slot->walk.registers[UNWIND_FP] = fp;
	return n;
}

/*
 * Writes the stack to frames[first...] and sets n_user. At a probe on a function's entry (`entry`)
 * the caller is where the call left it. False where only the kernel can walk: 32-bit code.
 */
static __always_inline bool chain_user(const struct pt_regs *ctx, bool in_user, bool entry,
				       const struct task_struct *task, struct scratch *slot,
				       __u32 number, __u32 first)
{
	__u32 n = 1, most = config.user_depth, end = user_registers(ctx, in_user, task, slot);

	if (end == NO_USER_SIDE)
		return true;
	if (end || first >= WIRE_MAX_DEPTH)
		return false;
	slot->window.size = 0;
	slot->frames[first] = slot->walk.pc & WIRE_FRAME_ADDRESS;
	if (entry && most > 1 && !entry_caller(&slot->walk, &slot->frames[first + 1]))
		n = 2;
	slot->stack.n_user = n;
	if (slot->walk.registers[UNWIND_FP] < slot->walk.registers[UNWIND_SP])
		return true;
	for (__u32 i = 0; i <= WIRE_MAX_DEPTH / CHAIN_STEPS; i++) {
		__u32 more = chain_some(number, first + n, most - n);

		n += more;
		OPAQUE(n);
		if (more < CHAIN_STEPS || n >= most)
			break;
	}
	slot->stack.n_user = n;
	return true;
}

/*
 * The stack by the helper, at the entry of a user function. The function has no frame yet, so the
 * frame pointer leads to its caller's caller; the function and its caller are put in front. Returns
 * bytes.
 */
static __always_inline long user_entry_stack(void *ctx, __u64 *frames, __u32 size)
{
	const struct pt_regs *regs = ctx;
	long n;

	frames[0] = PT_REGS_IP(regs);
	if (size < 2 * sizeof(__u64) ||
	    bpf_probe_read_user(&frames[1], sizeof(frames[1]), (void *)PT_REGS_SP(regs)))
		return sizeof(__u64);
	if (size == 2 * sizeof(__u64))
		return size;
	n = bpf_get_stack(ctx, &frames[2], size - 2 * sizeof(__u64), BPF_F_USER_STACK | 1);
	return n < 0 ? 2 * sizeof(__u64) : n + 2 * sizeof(__u64);
}

/*
 * Writes the user stack behind the `kernel` bytes of kernel frames, at most `size` bytes; sets
 * n_user, end and flags.
 */
static __always_inline void frame_pointer_user(void *ctx, bool in_user,
					       const struct task_struct *task, struct scratch *slot,
					       __u32 number, __u64 kernel, __u32 size)
{
	__u64 *frames = (void *)slot->frames + kernel;
	__u64 user;

	if (!slot->stack.image) /* a kernel thread */
		return;
	if (!chain_user(ctx, in_user, config_has(WIRE_USER_ENTRY), task, slot, number,
			kernel / sizeof(__u64))) {
		if (config_has(WIRE_USER_ENTRY) && !kernel_adds_caller())
			user = bytes_of(user_entry_stack(ctx, frames, size));
		else
			user = bytes_of(bpf_get_stack(ctx, frames, size, BPF_F_USER_STACK));
		slot->stack.n_user = user / sizeof(__u64);
	}
	if (slot->stack.n_user == config.user_depth)
		slot->stack.flags |= WIRE_STACK_USER_CUT;
	slot->stack.end = slot->stack.n_user == config.user_depth ? WIRE_END_DEPTH
			  : slot->stack.n_user			  ? WIRE_END_FRAME_POINTER
								  : WIRE_END_NONE;
}

#endif
