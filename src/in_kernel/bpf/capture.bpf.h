/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Capture, which every trigger's entry calls: filters the event, walks the kernel and the user
 * stack, and counts or sends them (bpf/count.bpf.h).
 */
#ifndef STACKTALLY_BPF_CAPTURE_BPF_H
#define STACKTALLY_BPF_CAPTURE_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <linux/ptrace.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "bpf/comm.h"
#include "bpf/count.bpf.h"
#include "bpf/expression.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/frame_pointers.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/kernel_walk.bpf.h"
#include "bpf/poison.bpf.h"
#include "bpf/scratch.bpf.h"
#include "bpf/stack_helper.bpf.h"
#include "bpf/sums.bpf.h"
#include "bpf/switch_stack.bpf.h"
#include "bpf/task.bpf.h"
#include "bpf/unwind_user.bpf.h"
#include "bpf/variables.bpf.h"
#include "bpf/wire.h"

/*
 * Gives a cookie of the task's process image; 0 for kernel threads. Its upper half changes with the
 * address space (exec), all of it when executable memory is mapped or unmapped (dlopen, dlclose,
 * a JIT's arenas, the first user probe). Hashed with a seed, so that no kernel pointer leaves.
 */
static __always_inline void image_cookie(const struct task_struct *task, enum task_from from,
					 __u64 *ret_cookie)
{
	const struct mm_struct *mm = TASK_FIELD(task, from, mm);
	__u64 space, state;

	/* In memory it is a number, with which the verifier allows arithmetic. */
	*(volatile __u64 *)ret_cookie = (__u64)mm;
	space = *(volatile __u64 *)ret_cookie;
	if (!space)
		return;
	space = (space ^ config.seed[0]) * 0x9fb21c651e98df25ull;
	space ^= space >> 32;
	state = (space ^ TASK_FIELD(mm, from, exec_vm)) * 0xd6e8feb86659fd93ull;
	*ret_cookie = (space << 32) | (state >> 32);
}

/*
 * The name of the task, padded with zeros. bpf_get_current_comm() does the same in three times the
 * time.
 */
static __always_inline void task_comm(const struct task_struct *task, enum task_from from,
				      char *ret_comm)
{
	__u64 words[WIRE_COMM_SIZE / sizeof(__u64)] = { 0 };
	const __u64 *comm = (const void *)&task->comm;

	_Static_assert(sizeof(words) == sizeof(task->comm), "a name is two words");
	if (from == TASK_CURRENT && has_typed_task()) {
		words[0] = comm[0];
		words[1] = comm[1];
	} else {
		bpf_core_read(words, sizeof(words), &task->comm);
	}
	comm_pad(words, (void *)ret_comm);
}

/* The code that an event hit. */
enum hit {
	HIT_KERNEL, /* user registers are where the kernel saved them */
	HIT_USER,   /* the context has the user registers; there is no kernel stack */
};

/* Writes the kernel stack to the slot; returns bytes. */
static __always_inline __u64 kernel_stack(void *ctx, enum context_kind kind, struct scratch *slot,
					  __u32 number)
{
	__u64 kernel = kind == CONTEXT_SWITCH ? switch_stack(ctx, slot, number)
					      : kernel_walk(ctx, kind, slot, number);

	kernel *= sizeof(__u64);
	OPAQUE(kernel);
	kernel = bytes_of(kernel);
	if (kernel == 0)
		kernel = helper_kernel_stack(ctx, slot);
	if (kernel == config.kernel_depth * sizeof(__u64))
		slot->stack.flags |= WIRE_STACK_KERNEL_CUT;
	return kernel;
}

/* Fills in whose stack it is. */
static __always_inline void stack_begin(struct scratch *slot, const struct task_struct *task,
					enum task_from from, __u32 tgid, __u32 tid)
{
	image_cookie(task, from, &slot->stack.image);
	slot->stack.tgid = tgid;
	slot->stack.tid = config_has(WIRE_PER_THREAD) ? tid : 0;
	slot->stack.cgroup = config_has(WIRE_CGROUP_ID) ? bpf_get_current_cgroup_id() : 0;
	task_comm(task, from, slot->stack.comm);
}

static __always_inline void stack_clear(struct scratch *slot)
{
	slot->stack.flags = 0;
	slot->stack.n_kernel = 0;
	slot->stack.n_user = 0;
	slot->stack.end = WIRE_END_NONE;
	slot->stack.unpaired = 0;
}

/* Writes both stacks to the slot. Returns the hashed words: from `image` to the last frame. */
static __always_inline __u32 walk(void *ctx, const struct task_struct *task, struct scratch *slot,
				  __u32 number, enum hit hit, enum context_kind kind, bool may_ask)
{
	__u32 size = config.user_depth * sizeof(__u64);
	__u32 how = (kind == CONTEXT_CLOCK ? WALK_SAMPLED : 0) | (may_ask ? WALK_MAY_ASK : 0);
	__u64 kernel = 0;

	stack_clear(slot);
	poison(slot);
	if (size > WIRE_MAX_DEPTH * sizeof(__u64))
		return 0;
	if (config_has(WIRE_KERNEL) && hit == HIT_KERNEL)
		kernel = kernel_stack(ctx, kind, slot, number);
	slot->stack.n_kernel = kernel / sizeof(__u64);
	if (config_has(WIRE_USER)) {
		if (config.unwind == WIRE_UNWIND_FP)
			frame_pointer_user(ctx, hit != HIT_KERNEL, task, slot, number, kernel,
					   size);
		else
			unwind_user(ctx, hit != HIT_KERNEL, task, slot, number,
				    kernel / sizeof(__u64), how);
	}
	return HEAD_WORDS + slot->stack.n_kernel + slot->stack.n_user;
}

/* Whether user space may finish the walk; prepares the slot for send_unfinished(). */
static __always_inline bool needs_finish(struct scratch *slot, __u32 number)
{
	if (config.unwind == WIRE_UNWIND_FP || !stack_copy_helps(slot->stack.end))
		return false;
	slot->rest_runs = interpreter_rest(slot, number);
	return true;
}

/*
 * Counts and sends the slot's stack after a walk, under a key by which values are added to it
 * later. False: it is lost, and counted as such.
 */
static __always_inline bool keep_stack(struct scratch *slot, __u32 number, bool unfinished)
{
	struct wire_counters *counter;
	__u32 zero = 0, words;
	bool kept = false;

	counter = bpf_map_lookup_elem(&counters, &zero);
	if (!counter)
		return false;
	words = HEAD_WORDS + slot->stack.n_kernel + slot->stack.n_user;
	hash(number, words);
	if (unfinished) {
		/* User space will finish this stack: until then it has a key of its own. */
		slot->stack.hash.low +=
			(slot->left_at ^ (__u64)slot->left_tid << 40) * 0x9fb21c651e98df25ull;
		slot->stack.hash.low |= 1;
		kept = send_unfinished(slot, number, counter);
		if (!kept)
			hash(number, words);
	}
	return kept || count(slot, number, counter);
}

/* Counts that the clock has come to this CPU, whatever it met there. */
static __always_inline void count_firing(void)
{
	__u32 zero = 0;
	struct wire_counters *counter = bpf_map_lookup_elem(&counters, &zero);

	if (!counter)
		return;
	__sync_fetch_and_add(&counter->fired, 1);
	if (bpf_get_current_pid_tgid() == 0)
		__sync_fetch_and_add(&counter->fired_idle, 1);
}

/* Takes the value of an event before its stack is walked. */
static __always_inline void begin_sum(const void *ctx, struct scratch *slot, __u32 number,
				      __u32 tid)
{
	event_is(slot, ctx);
	take_value(number);
	/* Of these keep_stack() makes a key. */
	slot->left_at = bpf_ktime_get_ns();
	slot->left_tid = tid;
}

/* Adds the value of an event to its stack. Not inlined: other events' stacks need the room. */
static __noinline int end_sum(__u32 number, bool unfinished)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	struct wire_counters *counter;
	__u32 zero = 0;

	if (!slot)
		return 0;
	counter = bpf_map_lookup_elem(&counters, &zero);
	if (keep_stack(slot, number, unfinished) &&
	    !add_value(&slot->stack.hash, slot->event.value) && counter)
		lose(&counter->lost_ring);
	scratch_release(slot);
	return 0;
}

/* `may_ask`: what user space has not heard of is asked of the kernel (bpf/unwind_ask.bpf.h). */
static __always_inline int capture(void *ctx, enum hit hit, enum context_kind kind, bool may_ask)
{
	const struct task_struct *task = current_task();
	struct wire_counters *counter;
	struct scratch *slot;
	__u32 tgid, tid, words, number = 0;

	if (!armed)
		return 0;
	if (kind == CONTEXT_CLOCK)
		count_firing();
	current_ids(task, &tgid, &tid);
	if (!wanted(task, tgid, tid))
		return 0;
	slot = event_slot(&counter, &number);
	if (!slot || !counter)
		return 0;
	if (is_left_out(ctx, slot, number))
		return 0;
	if (config_has(WIRE_VALUES))
		begin_sum(ctx, slot, number, tid);
	stack_begin(slot, task, TASK_CURRENT, tgid, tid);
	words = walk(ctx, task, slot, number, hit, kind, may_ask);
	if (kind == CONTEXT_CLOCK && config_has(WIRE_WALL))
		slot->stack.flags |= WIRE_STACK_SAMPLED;
	if (config_has(WIRE_VALUES))
		return end_sum(number, needs_finish(slot, number));
	if (!needs_finish(slot, number) || !send_unfinished(slot, number, counter)) {
		hash(number, words);
		count(slot, number, counter);
	}
	scratch_release(slot);
	return 0;
}

#endif
