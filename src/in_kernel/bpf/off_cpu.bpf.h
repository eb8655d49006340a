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
#include "bpf/off_cpu_wire.h"
#include "bpf/variables.bpf.h"

#define TASK_DEAD 0x80u

const volatile struct wire_off_cpu_config off_cpu;

/*
 * All threads that left a CPU, or that user space found when the measurement began. Preallocated,
 * because the scheduler's locks are held. An entry lives as long as its thread, and is written in
 * place.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u32);
	__type(value, struct wire_thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by user space */
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct wire_times);
} times SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_off_cpu_counters);
} off_cpu_counters SEC(".maps");

/* State of a CPU, and records too large for the BPF stack. One program at a time uses it. */
struct off_cpu_scratch {
	__u64 window, spent; /* ns: the start of a period, and the time of its walks */
	__u64 began;	     /* when the last walk of an absence with a weight above 1 began */
	__u32 n;	     /* number of walks */
	__u32 walk;	     /* ns that this walk took; 0: the weight was 1 */
	__u32 shift;	     /* threads that leave often are walked at one leave in 2^shift */
	struct wire_time time;
	struct wire_pair pair;
	struct wire_thread thread;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct off_cpu_scratch);
} off_cpu_scratchs SEC(".maps");

static __always_inline struct off_cpu_scratch *off_cpu_scratch(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&off_cpu_scratchs, &zero);
}

/* The record that the iterator over threads writes next. */
struct sleeper_capacity {
	struct wire_sleeper is;
	struct pt_regs registers;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sleeper_capacity);
} sleeper SEC(".maps");

static __always_inline __u32 thread_id(const struct task_struct *task)
{
	if (!config_has(WIRE_OWN_PIDNS))
		return BPF_CORE_READ(task, pid);
	return number_in_namespace(BPF_CORE_READ(task, thread_pid));
}

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

static __always_inline struct wire_off_cpu_counters *off_cpu_counter(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&off_cpu_counters, &zero);
}

/* Sends the times of a set's entry. */
static __always_inline bool evict_times(const struct wire_times *set, __u32 way, __u32 now)
{
	struct off_cpu_scratch *scratch = off_cpu_scratch();

	if (!scratch)
		return false;
	scratch->time = (struct wire_time){
		.hash = { .low = set->low[way], .high = set->high[way] },
		.blocked = set->blocked[way],
		.waiting = set->waiting[way],
		.epoch = now,
		.kind = WIRE_KIND_TIME,
	};
	return bpf_ringbuf_output(&ring, &scratch->time, sizeof(scratch->time), BPF_RB_NO_WAKEUP) ==
	       0;
}

/* Tells user space which stacks a key stands for. */
static __always_inline bool send_pair(const struct wire_hash *pair, const struct wire_thread *of,
				      __u32 now)
{
	struct off_cpu_scratch *scratch = off_cpu_scratch();

	if (!scratch)
		return false;
	scratch->pair = (struct wire_pair){
		.hash = *pair,
		.stack_low = of->stack.low,
		.epoch = now,
		.kind = WIRE_KIND_PAIR,
		.waker_low = of->waker.low,
		.stack_high = of->stack.high,
		.waker_high = of->waker.high,
	};
	return bpf_ringbuf_output(&ring, &scratch->pair, sizeof(scratch->pair), BPF_RB_NO_WAKEUP) ==
	       0;
}

/*
 * Adds to the times of a key: of a stack (`of` is NULL), or of the pair of stack and waker of the
 * thread `of`. False when the key is new and there is no room.
 */
static __always_inline bool add_times(const struct wire_hash *stack, const struct wire_thread *of,
				      __u64 blocked, __u64 waiting)
{
	__u32 now = epoch & (WIRE_EPOCHS - 1);
	__u32 key = (now * config.cpus + bpf_get_smp_processor_id()) * config.sets +
		    ((__u32)stack->low & (config.sets - 1));
	struct wire_times *set = bpf_map_lookup_elem(&times, &key);
	__u64 least = ~0ull;
	__u32 way = 0;

	if (!set)
		return false;
#pragma unroll
	for (__u32 i = 0; i < WIRE_TIMES; i++) {
		__u64 sum = set->blocked[i] + set->waiting[i];

		if (sum && set->low[i] == stack->low && set->high[i] == (__u32)stack->high) {
			set->blocked[i] += blocked;
			set->waiting[i] += waiting;
			return true;
		}
		if (sum < least) {
			least = sum;
			way = i;
		}
	}
	if (way >= WIRE_TIMES || (of && !send_pair(stack, of, now)) ||
	    (least && !evict_times(set, way, now)))
		return false;
	set->low[way] = stack->low;
	set->high[way] = (__u32)stack->high;
	set->blocked[way] = blocked;
	set->waiting[way] = waiting;
	return true;
}

static __always_inline void lose_time(__u64 ns)
{
	struct wire_off_cpu_counters *counter = off_cpu_counter();

	if (counter)
		__sync_fetch_and_add(&counter->lost_time, ns);
}

/* Adds time that a waker ended to the key of stack and waker. Not inlined: see enter(). */
static __noinline int add_woken(const struct wire_thread *thread, __u64 blocked)
{
	struct wire_hash pair = wire_pair_hash(&thread->stack, &thread->waker);

	if (!add_times(&pair, thread, blocked, 0))
		lose_time(blocked);
	return 0;
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

/* Where the kernel saved the user registers of a task. */
static __always_inline const void *registers_of(struct task_struct *task)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return (const void *)bpf_task_pt_regs(task);
	return saved_at(task);
}

/*
 * Writes the kernel stack of a task that sleeps, without the scheduler's frames; returns the number
 * of frames.
 */
static __always_inline __u32 sleeper_stack(struct task_struct *task,
					   struct sleeper_capacity *scratch)
{
	__u32 number = 0;
	struct scratch *slot = scratch_take(&number);
	__u64 bytes = 0;

	if (slot) {
		bytes = kernel_walk_inactive(task, slot, number) * sizeof(__u64);
		OPAQUE(bytes);
		if (bytes > sizeof(scratch->is.frames))
			bytes = sizeof(scratch->is.frames);
		bpf_probe_read_kernel(scratch->is.frames, bytes, slot->frames);
		scratch_release(slot);
	}
	if (bytes == 0)
		bytes = bytes_of(bpf_get_task_stack(task, scratch->is.frames,
						    sizeof(scratch->is.frames), 0));
	return bytes / sizeof(__u64);
}

#define MAX_RT_PRIO 100 /* numbers below are those of real-time threads */

/*
 * For how long a task has been off the CPU, up to when the current one was put on its own; 0: not
 * known. For how long a task ran since it was last put on a CPU is counted for usual ones only.
 */
static __always_inline __u64 time_away(const struct task_struct *task)
{
	__u64 now, left;

	if (!bpf_core_field_exists(task->sched_info.last_arrival) ||
	    !bpf_core_field_exists(task->se.prev_sum_exec_runtime) ||
	    BPF_CORE_READ(task, prio) < MAX_RT_PRIO)
		return 0;
	now = BPF_CORE_READ(current_task(), sched_info.last_arrival);
	left = BPF_CORE_READ(task, sched_info.last_arrival);
	if (!left)
		return 0;
	left += BPF_CORE_READ(task, se.sum_exec_runtime) -
		BPF_CORE_READ(task, se.prev_sum_exec_runtime);
	return now > left ? now - left : 0;
}

/*
 * Writes the kernel stack and the user registers of a thread that has slept since before the
 * measurement. It may wake up meanwhile, which user space checks afterwards.
 */
static __always_inline int write_sleeper(struct seq_file *seq, struct task_struct *task)
{
	const struct wire_thread *thread;
	struct sleeper_capacity *scratch;
	__u64 mode = 0;
	__u32 zero = 0, tid;

	tid = thread_id(task);
	thread = tid ? bpf_map_lookup_elem(&threads, &tid) : NULL;
	scratch = bpf_map_lookup_elem(&sleeper, &zero);
	if (!scratch || !thread || thread->out != WIRE_OUT_BEFORE || thread->wake)
		return 0;
	scratch->is.tid = tid;
	scratch->is.away = time_away(task);
	scratch->is.thread_pointer = ARCH_THREAD_POINTER(task, TASK_ARGUMENT);
	image_cookie(task, TASK_ARGUMENT, &scratch->is.image);
	scratch->is.stack_start = BPF_CORE_READ(task, mm, start_stack);
	scratch->is.n_kernel = config_has(WIRE_KERNEL) ? sleeper_stack(task, scratch) : 0;
	scratch->is.end = WIRE_END_REGISTERS;
	if (scratch->is.image && config_has(WIRE_USER))
		scratch->is.end = take_saved_registers(registers_of(task), &scratch->registers,
						       &scratch->is.walk, &mode);
	if (!scratch->is.end)
		scratch->is.end = end_of_mode(mode);
	bpf_seq_write(seq, &scratch->is, sizeof(scratch->is));
	return 0;
}

#endif
