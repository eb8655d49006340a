/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Threads that have slept since before a measurement began: an iterator over all threads writes
 * what is known of each, for user space to walk its stack (gauge/sleepers.c).
 */
#ifndef STACKTALLY_BPF_SLEEPERS_BPF_H
#define STACKTALLY_BPF_SLEEPERS_BPF_H

#include "bpf/kernel_walk.bpf.h"
#include "bpf/off_cpu_times.bpf.h"
#include "bpf/user_registers.bpf.h"

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
