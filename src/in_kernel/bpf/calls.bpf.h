/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Calls of functions, from entry to return. The stack is walked at the entry: at the return, the
 * kernel's trampoline has taken the place of the return address. The time in between is added to
 * that stack.
 *
 * Of calls within calls only the outermost counts, on each thread by itself; so a thread is in one
 * call at most. The stack pointer tells which one returns: it is above that of the entry when the
 * outermost call has returned, or was jumped over (longjmp(), an exception), and below it for those
 * within. The kernel decides in the same way which return addresses it still has to restore.
 */
#ifndef STACKTALLY_BPF_CALLS_BPF_H
#define STACKTALLY_BPF_CALLS_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_tracing.h>

#include "bpf/calls_wire.h"
#include "bpf/capture.bpf.h"
#include "bpf/sums.bpf.h"
#include "bpf/variables.bpf.h"

/* Preallocated: an entry lives as long as its thread, and is written in place. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u64);
	__type(value, struct wire_call);
} calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_call_counters);
} call_counters SEC(".maps");

#define COUNT_CALL(what)                                                                           \
	do {                                                                                       \
		__u32 counters_key = 0;                                                            \
		struct wire_call_counters *call_counter =                                          \
			bpf_map_lookup_elem(&call_counters, &counters_key);                        \
                                                                                                   \
		if (call_counter)                                                                  \
			__sync_fetch_and_add(&call_counter->what, 1);                              \
	} while (0)

/*
 * The stack that the code runs on, as the key of its calls. In the kernel, interrupts have stacks
 * of their own, so that what they call is no part of the call that they interrupt, and idle tasks
 * have one for each CPU. Such numbers are above those of threads.
 */
static __always_inline __u64 call_key(enum hit hit, __u64 sp)
{
	if (hit == HIT_KERNEL)
		return sp / ARCH_STACK_SIZE;
	return (__u32)bpf_get_current_pid_tgid();
}

/* Where the stack pointer is after a return from the entry's. */
#define RETURN_MOST sizeof(__u64)

static __always_inline bool returns_to(const struct wire_call *call, __u64 sp)
{
	return sp > call->sp && sp - call->sp <= RETURN_MOST;
}

/*
 * Whether a call of user space that began at `sp` is still under way where the stack pointer is not
 * above: then the kernel's trampoline is in the place of its return address. Otherwise a jump left
 * it, and other calls have written there. In the kernel there are no such jumps.
 */
static __always_inline bool is_under_way(const struct task_struct *task, __u64 sp, __u64 key)
{
	const struct xol_area *area = NULL;
	__u64 caller = 0;

	if (key > ~0u)
		return true;
	area = BPF_CORE_READ(task, mm, uprobes_state.xol_area);
	return area && bpf_probe_read_user(&caller, sizeof(caller), (void *)sp) == 0 &&
	       caller == BPF_CORE_READ(area, vaddr);
}

/* Whether a function that begins is a part of the call that the thread is in. */
static __always_inline bool is_within(const struct wire_call *call, const struct task_struct *task,
				      __u64 sp, __u64 key)
{
	if (call->tid != (__u32)bpf_get_current_pid_tgid() || sp > call->sp)
		return false;
	return is_under_way(task, call->sp, key);
}

/*
 * Takes a slot for the stack of a call that begins. Returns its number + 1; 0: the call does not
 * count, or is a part of another one.
 */
static __noinline __u32 call_begin(__u64 sp, __u64 key)
{
	const struct task_struct *task = current_task();
	struct wire_call *call = bpf_map_lookup_elem(&calls, &key);
	struct wire_counters *counter;
	__u32 tgid, tid, number = 0;
	struct scratch *slot;

	current_ids(task, &tgid, &tid);
	if (!wanted(task, tgid, tid))
		return 0;
	if (call && call->began) {
		if (is_within(call, task, sp, key))
			return 0;
		call->began = 0;
		COUNT_CALL(unreturned);
	}
	slot = event_slot(&counter, &number);
	if (!slot)
		return 0;
	stack_begin(slot, task, TASK_CURRENT, tgid, tid);
	slot->left_at = bpf_ktime_get_ns();
	slot->left_tid = tid;
	slot->call_key = key;
	slot->call_sp = sp;
	return number + 1;
}

/* The part after the walk. The call's time begins at its end. */
static __noinline int call_end(__u32 number, bool unfinished)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	struct wire_call begins = { 0 }, *call;
	__u64 key;

	if (!slot)
		return 0;
	if (keep_stack(slot, number, unfinished))
		begins.stack = slot->stack.hash;
	begins.sp = slot->call_sp;
	begins.tid = (__u32)bpf_get_current_pid_tgid();
	key = slot->call_key;
	scratch_release(slot);
	call = bpf_map_lookup_elem(&calls, &key);
	begins.began = bpf_ktime_get_ns();
	if (call)
		*call = begins;
	else if (bpf_map_update_elem(&calls, &key, &begins, BPF_ANY))
		COUNT_CALL(lost_calls);
	return 0;
}

/*
 * A call ends that was not seen to begin. Those of others, and our own, do not count; nor those
 * that did not meet a condition.
 */
static __noinline int call_unseen(void)
{
	const struct task_struct *task = current_task();
	__u32 tgid, tid;

	current_ids(task, &tgid, &tid);
	if (!config_has(WIRE_IF) && tgid != config.self && wanted(task, tgid, tid))
		COUNT_CALL(unentered);
	return 0;
}

/* What a call adds, by what it returns; false: it does not meet the condition, or it is lost. */
static __always_inline bool returned_value(const struct pt_regs *ctx, __u64 *value)
{
	struct scratch *slot;
	__u32 number = 0;
	bool adds;

	slot = scratch_take(&number);
	if (!slot) {
		COUNT_CALL(lost_values);
		return false;
	}
	event_is(slot, ctx);
	adds = !config_has(WIRE_IF_RETURNED) || !is_unmet(number);
	if (adds && config_has(WIRE_VALUES)) {
		take_value(number);
		*value = slot->event.value;
	}
	scratch_release(slot);
	return adds;
}

/* Adds the time of a call, or what it has returned, to its stack. */
static __always_inline void add_call(const struct pt_regs *ctx, const struct wire_call *call,
				     __u64 now)
{
	__u64 value = now - call->began;

	if (config_has(WIRE_VALUES | WIRE_IF_RETURNED) && !returned_value(ctx, &value))
		return;
	if (!call->stack.low || !add_value(&call->stack, value))
		COUNT_CALL(lost_values);
}

/*
 * A call returns. Calls that end with a jump to another function, which is traced, too, return at
 * the same place: the first of them ends the call.
 */
static __noinline int call_returned(const struct pt_regs *ctx, __u64 key, __u64 now)
{
	__u64 sp = PT_REGS_SP(ctx);
	struct wire_call *call = bpf_map_lookup_elem(&calls, &key);

	if (!call || (!call->began && !returns_to(call, sp)))
		return call_unseen();
	if (!call->began || sp <= call->sp)
		return 0;
	if (!returns_to(call, sp))
		COUNT_CALL(unreturned);
	else
		add_call(ctx, call, now);
	call->began = 0;
	return 0;
}

static __always_inline int on_call(struct pt_regs *ctx, enum hit hit, bool may_ask)
{
	__u64 sp = PT_REGS_SP(ctx);
	struct scratch *slot;
	__u32 number;

	if (!armed)
		return 0;
	number = call_begin(sp, call_key(hit, sp));
	if (!number)
		return 0;
	number--;
	slot = bpf_map_lookup_elem(&scratch, &number);
	if (!slot || is_left_out(ctx, slot, number))
		return 0;
	walk(ctx, current_task(), slot, number, hit, CONTEXT_OTHER, may_ask);
	call_end(number, needs_finish(slot, number));
	return 0;
}

static __always_inline int on_return(const struct pt_regs *ctx, enum hit hit)
{
	__u64 now = bpf_ktime_get_ns();

	if (armed)
		call_returned(ctx, call_key(hit, PT_REGS_SP(ctx)), now);
	return 0;
}

/* A thread ends, or its program is replaced by another one: it does not return from its call. */
static __always_inline void call_gone(__u64 key)
{
	const struct wire_call *call = bpf_map_lookup_elem(&calls, &key);

	if (!call)
		return;
	if (armed && call->began)
		COUNT_CALL(unreturned);
	bpf_map_delete_elem(&calls, &key);
}

#endif
