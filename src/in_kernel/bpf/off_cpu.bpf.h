/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Time off the CPU. When the scheduler takes a thread off its CPU, the thread's memory is still
 * mapped: its stack is walked and sent then, as that of any event. When the thread is back, the
 * time in between is added to its stack. The thread was blocked until it became ready to run, and
 * waited for a CPU from then on.
 *
 * The scheduler calls these programs with interrupts off and its own locks held, one at a time on
 * each CPU, and in this order for each thread: leave, become ready, enter.
 */
#ifndef STACKTALLY_BPF_OFF_CPU_BPF_H
#define STACKTALLY_BPF_OFF_CPU_BPF_H

#include "bpf/capture.bpf.h"
#include "bpf/off_cpu_times.bpf.h"
#include "bpf/off_cpu_wire.h"

#define TASK_DEAD 0x80u

/* The state of the current task, which had another name before Linux 5.14 (2f064a59a11f). */
static __always_inline __u32 task_state(const struct task_struct *task)
{
	const struct task_struct___5_10 *before = (const void *)task;

	if (bpf_core_field_exists(task->__state))
		return TASK_FIELD(task, TASK_CURRENT, __state);
	return (__u32)BPF_CORE_READ(before, state);
}

/* For how long a task has run, ns. When a task leaves its CPU, the scheduler has just updated it.
 */
static __always_inline __u64 time_ran(const struct task_struct *task, enum task_from from)
{
	return TASK_FIELD(task, from, se.sum_exec_runtime);
}

/* Ends the absence of a thread at the time `now`. */
static __always_inline void absence_ended(struct wire_thread *thread, __u64 now)
{
	__u64 out = thread->out, wake = thread->wake, blocked, waiting;
	struct wire_hash stack = thread->stack;

	thread->out = 0;
	thread->check = wire_thread_check(thread);
	if (out < off_cpu_began)
		out = off_cpu_began;
	if (wake && wake < out)
		wake = out;
	if (now <= out)
		return;
	if (!wake || wake > now)
		wake = now;
	blocked = wake - out;
	waiting = now - wake;
	thread->longest -= thread->longest >> 3;
	if (blocked + waiting > thread->longest)
		thread->longest = blocked + waiting;
	if (blocked + waiting < off_cpu.least || blocked + waiting > off_cpu.most)
		return;
	if (thread->weight != 1) {
		__u64 walk = thread->walk;

		if (thread->weight == 0)
			return;
		blocked = wire_weighted(blocked, thread->weight, &walk);
		waiting = wire_weighted(waiting, thread->weight, &walk);
	}
	if (off_cpu.wakers && stack.low && thread->waker.low && blocked) {
		add_woken(thread, blocked);
		blocked = 0;
	}
	if (blocked + waiting == 0 || (stack.low && add_times(&stack, NULL, blocked, waiting)))
		return;
	lose_time(blocked + waiting);
}

/*
 * A thread leaves the CPU, and its return was not seen: it may have been on the CPU when the
 * measurement began, or the kernel did not run our program for that switch. The scheduler's count
 * says how long it has run since, so how long ago it returned.
 */
static __noinline int absence_ended_unseen(struct wire_thread *thread, __u64 now, __u64 ran)
{
	struct wire_off_cpu_counters *counter;

	if (thread->out != WIRE_OUT_BEFORE) {
		counter = off_cpu_counter();
		if (counter)
			__sync_fetch_and_add(&counter->lost_ends, 1);
	}
	absence_ended(thread, now - (ran - thread->ran));
	return 0;
}

/*
 * A thread is back on a CPU. Not inlined, so that its variables take no room on the BPF stack
 * during walks, which need nearly all of it.
 */
static __noinline int enter(const struct task_struct *task, __u64 now)
{
	__u32 tid = thread_id(task);
	struct wire_thread *thread = tid ? bpf_map_lookup_elem(&threads, &tid) : NULL;

	if (thread && thread->out)
		absence_ended(thread, now);
	return 0;
}

/*
 * The weight of a thread's next absence: how many absences it stands for; 0: its stack is not
 * walked. Walks may take a share of each CPU's time (the budget). Beyond it, threads with long
 * absences, which are few and have most of the time, are still walked at each leave. The others are
 * walked at one leave in 2^shift, chosen at random.
 */
#define BUDGET_LONG  50000ull /* ns, at shift 0 */
#define BUDGET_SHIFT 8u
#define BUDGET_MEASURED                                                                            \
	8u /* one walk in so many is measured: a power of two, as their number wraps */

static __noinline __u32 absence_weight(__u32 tid, __u64 now)
{
	struct off_cpu_scratch *scratch = off_cpu_scratch();
	const struct wire_thread *thread;
	__u64 random;

	if (!scratch || !off_cpu.budget)
		return 1;
	if (scratch->spent > off_cpu.budget) {
		if (scratch->shift < BUDGET_SHIFT)
			scratch->shift++;
		scratch->spent = 0;
		scratch->window = now;
	} else if (now - scratch->window > WIRE_BUDGET_WINDOW) {
		if (scratch->shift && scratch->spent < off_cpu.budget / 3)
			scratch->shift--;
		scratch->spent = 0;
		scratch->window = now;
	}
	if (!scratch->shift)
		return 1;
	thread = bpf_map_lookup_elem(&threads, &tid);
	if (!thread || thread->longest >= BUDGET_LONG << (scratch->shift & 15))
		return 1;
	random = (now ^ tid) * 0x9fb21c651e98df25ull >> 40;
	if (random & ((1u << (scratch->shift & 15)) - 1))
		return 0;
	scratch->began = bpf_ktime_get_ns();
	return 1u << (scratch->shift & 15);
}

/*
 * Adds the time of a walk to what the CPU has spent. Returns it if the absence has a weight above
 * 1, else 0: then only one walk in BUDGET_MEASURED is timed, from `since` on.
 */
static __always_inline __u32 budget_spend(struct off_cpu_scratch *scratch, __u64 since,
					  __u32 weight)
{
	__u64 ns;

	if (!off_cpu.budget)
		return 0;
	if (weight > 1) {
		ns = bpf_ktime_get_ns() - scratch->began;
		scratch->spent += ns;
		return ns;
	}
	if (scratch->n++ % BUDGET_MEASURED == 0)
		scratch->spent += BUDGET_MEASURED * (bpf_ktime_get_ns() - since);
	return 0;
}

/* How an absence begins: whether the thread is ready to run, and the weight. */
#define ABSENCE(ready, weight) ((__u32)(weight) << 1 | ((ready) ? 1 : 0))

/* Begins an absence: adds the thread to the map, or updates it. */
static __noinline int absence_begins(__u32 tid, const struct wire_hash *stack, __u64 now, __u32 how,
				     __u64 ran)
{
	struct wire_thread *thread = bpf_map_lookup_elem(&threads, &tid), *known = thread;
	struct off_cpu_scratch *scratch = off_cpu_scratch();
	struct wire_off_cpu_counters *counter;

	if (!scratch)
		return 0;
	if (!thread)
		thread = &scratch->thread;
	else if (thread->out)
		absence_ended_unseen(thread, now, ran);
	thread->stack = *stack;
	thread->waker.low = thread->waker.high = 0;
	thread->out = now;
	thread->wake = how & 1 ? now : 0;
	thread->ran = ran;
	if (!known)
		thread->longest = WIRE_LONGEST;
	thread->weight = how >> 1;
	thread->walk = thread->weight ? scratch->walk : 0;
	thread->check = wire_thread_check(thread);
	if (known || bpf_map_update_elem(&threads, &tid, thread, BPF_ANY) == 0)
		return 0;
	counter = off_cpu_counter();
	if (counter)
		__sync_fetch_and_add(&counter->lost_threads, 1);
	return 0;
}

/* An absence begins that the options exclude. */
static __always_inline void absence_ignored(const struct task_struct *task, __u32 tid, __u64 now)
{
	struct wire_thread *thread = bpf_map_lookup_elem(&threads, &tid);

	if (thread && thread->out)
		absence_ended_unseen(thread, now, time_ran(task, TASK_CURRENT));
}

/* Whether absences that begin in this state count. */
static __always_inline bool state_counts(__u32 state, bool runs_on)
{
	if (off_cpu.only == WIRE_STATES_RUNNING)
		return runs_on;
	return off_cpu.only == WIRE_STATES_ALL || (!runs_on && state & off_cpu.state);
}

/*
 * Takes a slot for the stack of a task that leaves the CPU, and fills in what is known of the
 * absence. Returns the slot's number + 1; 0: there is none.
 */
static __always_inline __u32 absence_slot(const struct task_struct *task, enum task_from from,
					  __u32 tgid, __u32 tid, __u32 how, __u64 now)
{
	struct wire_counters *counter;
	__u32 number = 0;
	struct scratch *slot = event_slot(&counter, &number);

	if (!slot) {
		struct wire_hash lost = { 0 };

		absence_begins(tid, &lost, now, how, time_ran(task, from));
		return 0;
	}
	stack_begin(slot, task, from, tgid, tid);
	stack_clear(slot);
	slot->left_at = now;
	slot->left_ran = time_ran(task, from);
	slot->left_tid = tid;
	slot->left_how = how;
	return number + 1;
}

/*
 * The current task leaves the CPU: the part before the walk. Returns the number of its slot + 1; 0:
 * its stack is not walked.
 */
static __noinline __u32 leave_begin(__u32 preempted, __u64 now)
{
	const struct task_struct *task = current_task();
	__u32 tgid, tid, state, weight;
	bool ready;

	current_ids(task, &tgid, &tid);
	if (tid == 0)
		return 0;
	state = task_state(task);
	if (state & TASK_DEAD && !preempted) {
		bpf_map_delete_elem(&threads, &tid);
		return 0;
	}
	/* A task that was about to block, but has a signal to handle, is ready to run again. */
	ready = preempted || state == 0;
	if (!wanted(task, tgid, tid) || !state_counts(state, ready)) {
		absence_ignored(task, tid, now);
		return 0;
	}
	weight = absence_weight(tid, now);
	if (!weight) {
		struct wire_hash none = { 0 };
		struct wire_off_cpu_counters *counter = off_cpu_counter();

		if (counter)
			__sync_fetch_and_add(&counter->unwalked, 1);
		absence_begins(tid, &none, now, ABSENCE(ready, 0), time_ran(task, TASK_CURRENT));
		return 0;
	}
	return absence_slot(task, TASK_CURRENT, tgid, tid, ABSENCE(ready, weight), now);
}

/* The part after the walk. The key of a lost stack is 0. */
static __noinline int leave_end(__u32 number, bool unfinished)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	struct off_cpu_scratch *scratch = off_cpu_scratch();
	struct wire_hash stack = { 0 };

	if (!slot || !scratch)
		return 0;
	if (keep_stack(slot, number, unfinished))
		stack = slot->stack.hash;
	scratch->walk = budget_spend(scratch, slot->left_at, slot->left_how >> 1);
	absence_begins(slot->left_tid, &stack, slot->left_at, slot->left_how, slot->left_ran);
	scratch_release(slot);
	return 0;
}

/* The current task leaves the CPU, another one enters it. */
static __always_inline int on_switch_to(struct bpf_raw_tracepoint_args *ctx)
{
	struct scratch *slot;
	__u32 number;
	__u64 now;

	if (!armed)
		return 0;
	/* One time for both tasks, as the scheduler has it. */
	now = bpf_ktime_get_ns();
	number = leave_begin(ctx->args[0] & 1, now);
	if (number) {
		number--;
		slot = bpf_map_lookup_elem(&scratch, &number);
		if (slot) {
			walk(ctx, current_task(), slot, number, HIT_KERNEL, CONTEXT_SWITCH, false);
			leave_end(number, needs_finish(slot, number));
		}
	}
	enter((void *)ctx->args[2], now);
	return 0;
}

/* Takes a slot for the stack of the current task, which wakes `task`: number + 1, or 0. */
static __noinline __u32 waker_begin(const struct task_struct *task, __u64 now)
{
	const struct task_struct *waker = current_task();
	struct wire_counters *counter;
	__u32 number = 0, tid = thread_id(task), tgid, waker_tid;
	struct wire_thread *thread = tid ? bpf_map_lookup_elem(&threads, &tid) : NULL;
	struct scratch *slot;

	if (!thread || !thread->out || !thread->weight || thread->wake > WIRE_WAKE_BEFORE ||
	    thread->waker.low)
		return 0;
	slot = event_slot(&counter, &number);
	if (!slot)
		return 0;
	current_ids(waker, &tgid, &waker_tid);
	stack_begin(slot, waker, TASK_CURRENT, tgid, waker_tid);
	slot->left_tid = tid;
	slot->left_at = now;
	return number + 1;
}

static __noinline int waker_end(__u32 number, bool unfinished)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	struct wire_thread *thread;
	__u32 tid;

	if (!slot)
		return 0;
	tid = slot->left_tid;
	if (keep_stack(slot, number, unfinished)) {
		thread = bpf_map_lookup_elem(&threads, &tid);
		if (thread) {
			thread->waker = slot->stack.hash;
			thread->check = wire_thread_check(thread);
		}
	}
	scratch_release(slot);
	return 0;
}

/* The current task, or an interrupt, is about to make a thread ready to run. */
static __always_inline int on_waking_of(struct bpf_raw_tracepoint_args *ctx)
{
	struct scratch *slot;
	__u32 number;

	if (!armed)
		return 0;
	number = waker_begin((void *)ctx->args[0], bpf_ktime_get_ns());
	if (!number)
		return 0;
	number--;
	slot = bpf_map_lookup_elem(&scratch, &number);
	if (!slot)
		return 0;
	walk(ctx, current_task(), slot, number, HIT_KERNEL, CONTEXT_OTHER, false);
	slot->stack.flags |= WIRE_STACK_WAKER;
	waker_end(number, needs_finish(slot, number));
	return 0;
}

/* A thread is ready to run. */
static __always_inline int on_ready(const struct task_struct *task)
{
	struct wire_thread *thread;
	__u32 tid;

	if (!armed)
		return 0;
	tid = thread_id(task);
	thread = tid ? bpf_map_lookup_elem(&threads, &tid) : NULL;
	if (!thread || !thread->out || thread->wake > WIRE_WAKE_BEFORE)
		return 0;
	thread->wake = bpf_ktime_get_ns();
	thread->check = wire_thread_check(thread);
	return 0;
}

/* A new thread, which has no stack yet, waits for a CPU. */
static __always_inline int on_new(const struct task_struct *task)
{
	__u32 tgid, tid, number;

	if (!armed)
		return 0;
	tgid = task_tgid(task);
	tid = thread_id(task);
	if (tid == 0 || !wanted(task, tgid, tid) || !state_counts(0, true))
		return 0;
	number = absence_slot(task, TASK_ARGUMENT, tgid, tid, ABSENCE(true, 1), bpf_ktime_get_ns());
	if (number)
		leave_end(number - 1, false);
	return 0;
}

#endif
