/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The times that threads were off the CPU, by stacks: the threads that are off it or that have
 * been, the sets of times, and what is added to them. The scheduler calls the programs that do
 * (bpf/off_cpu.bpf.h) one at a time on each CPU.
 */
#ifndef STACKTALLY_BPF_OFF_CPU_TIMES_BPF_H
#define STACKTALLY_BPF_OFF_CPU_TIMES_BPF_H

#include "bpf/capture.bpf.h"
#include "bpf/off_cpu_wire.h"
#include "bpf/variables.bpf.h"

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

static __always_inline __u32 thread_id(const struct task_struct *task)
{
	if (!config_has(WIRE_OWN_PIDNS))
		return BPF_CORE_READ(task, pid);
	return number_in_namespace(BPF_CORE_READ(task, thread_pid));
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

#endif
