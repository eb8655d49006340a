// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * Every program of the kernel side. None loads by itself: a trigger chooses the entry it fires,
 * the session adds those that follow processes; the verifier never sees the rest.
 *
 * Hooks: perf events, kernel and user probes (single, multi), fentry, tracepoints, raw and through
 * perf events; among the raw ones sched_process_fork, sched_process_exec and sched_process_exit.
 */
#include "bpf/capture.bpf.h"

/* Both, so that the stack helpers, which are for GPL programs only, may be called. */
char LICENSE[] SEC("license") = "Dual BSD/GPL";

static __always_inline bool hit_user_code(const struct bpf_perf_event_data *ctx)
{
#if defined(__TARGET_ARCH_x86)
	return (ctx->regs.cs & 3) == 3; /* the ring of the code segment */
#elif defined(__TARGET_ARCH_arm64)
	return (ctx->regs.pstate & 0xf) == 0; /* EL0t */
#else
	return false;
#endif
}

SEC("?perf_event")
int on_clock(struct bpf_perf_event_data *ctx)
{
	return capture(ctx, hit_user_code(ctx) ? HIT_USER : HIT_KERNEL, SOURCE_CLOCK);
}

SEC("?kprobe")
int on_kprobe(struct pt_regs *ctx)
{
	return capture(ctx, HIT_KERNEL, SOURCE_OTHER);
}

SEC("?kprobe.multi")
int on_kprobe_multi(struct pt_regs *ctx)
{
	return capture(ctx, HIT_KERNEL, SOURCE_OTHER);
}

SEC("?fentry")
int on_fentry(void *ctx)
{
	return capture(ctx, HIT_KERNEL, SOURCE_OTHER);
}

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} no_programs SEC(".maps");

/*
 * User probes are preempted. Since Linux 6.13 (a76ab5731e32; in 6.12 stable too) the kernel gives
 * programs of their type one stack for each CPU in place of the task's, as if they were not: the
 * next task's probe writes over what this one has on it. Programs with a tail call in them are
 * excepted, so there is one here, that the verifier knows is never made.
 */
static __always_inline int capture_preempted(void *ctx)
{
	if (config.user_depth == 0)
		bpf_tail_call(ctx, &no_programs, 0);
	return capture(ctx, HIT_USER, SOURCE_OTHER);
}

SEC("?uprobe")
int on_uprobe(struct pt_regs *ctx)
{
	return capture_preempted(ctx);
}

/* Loaded with the attach type BPF_TRACE_UPROBE_MULTI, which has no section name in libbpf 1.1. */
SEC("?kprobe")
int on_uprobe_multi(struct pt_regs *ctx)
{
	return capture_preempted(ctx);
}

SEC("?tracepoint")
int on_tracepoint(void *ctx)
{
	return capture(ctx, HIT_KERNEL, SOURCE_TRACEPOINT);
}

/* Of any event: what its arguments are, it does not know. */
SEC("?raw_tp")
int on_raw_tracepoint(void *ctx)
{
	return capture(ctx, HIT_KERNEL, SOURCE_OTHER);
}

static __always_inline void follow_child(__u32 from, __u32 to)
{
	__u32 state = WIRE_MEMBER, zero = 0;
	struct wire_counters *counter;

	if (!is_member(&tgids, from) || bpf_map_update_elem(&tgids, &to, &state, BPF_ANY) == 0)
		return;
	counter = bpf_map_lookup_elem(&counters, &zero);
	if (counter)
		__sync_fetch_and_add(&counter->lost_children, 1);
}

/*
 * A child has its parent's code: it can be walked at once. User space hears of it a little later.
 * TP_PROTO(struct task_struct *parent, struct task_struct *child)
 */
SEC("?raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *parent = (void *)ctx->args[0];
	const struct task_struct *child = (void *)ctx->args[1];
	__u32 from = task_tgid(parent), to = task_tgid(child);
	struct wire_process *process;

	if (from == to)
		return 0;
	if (config_has(WIRE_FOLLOW_FORKS))
		follow_child(from, to);
	if (by_tables()) {
		process = bpf_map_lookup_elem(&unwind_processes, &from);
		if (process) {
			bpf_map_update_elem(&unwind_processes, &to, process, BPF_ANY);
			unwind_changed();
		}
	}
	return 0;
}

static __always_inline void forget_process(__u32 tgid)
{
	if (bpf_map_delete_elem(&unwind_processes, &tgid) == 0)
		unwind_changed();
}

/*
 * What was mapped is gone, and addresses mean something else now.
 * TP_PROTO(struct task_struct *p, pid_t old_pid, struct linux_binprm *bprm)
 */
SEC("?raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 tgid = task_tgid((void *)ctx->args[0]);
	__u32 *state = bpf_map_lookup_elem(&tgids, &tgid);

	if (state && *state == WIRE_MEMBER_ON_EXEC)
		*state = WIRE_MEMBER;
	if (by_tables())
		forget_process(tgid);
	return 0;
}

/* TP_PROTO(struct task_struct *p): its id may be another process's soon */
SEC("?raw_tp/sched_process_exit")
int on_exit(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *task = (void *)ctx->args[0];
	__u32 tgid = task_tgid(task);

	if (BPF_CORE_READ(task, signal, live.counter) != 0)
		return 0;
	if (config_has(WIRE_FOLLOW_FORKS))
		bpf_map_delete_elem(&tgids, &tgid);
	if (by_tables())
		forget_process(tgid);
	return 0;
}
