// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * The programs of the kernel side.
 *
 * Architecture: each trigger has an entry here, and all of them call the same inlined capture()
 * (bpf/capture.bpf.h). No program loads by itself ("?"): the trigger names the one it needs, and
 * the session adds those that follow processes. So the verifier checks only what is used.
 *
 * perf_event                an event of the clock on a CPU: a sample
 * kprobe, kprobe.multi      calls of a kernel function, and of many by one link
 * fentry                    calls of a kernel function, where the kernel has no kprobes
 * uprobe, on_uprobe_multi   calls of a user function or a USDT probe, and of many by one link
 * tracepoint, raw_tp        a tracepoint through a perf event, and a raw one
 * raw_tp/sched_process_fork the child is walked by its parent's mappings at once; follows a
 *                           process's children where that was asked for
 * raw_tp/sched_process_exec the old program's mappings are forgotten; a launched command is counted
 *                           from here on
 * raw_tp/sched_process_exit the process is forgotten with its last thread
 */
#include "bpf/capture.bpf.h"

/* GPL among them, which the stack helpers require. */
char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Whether the clock interrupted user code. */
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
	return capture(ctx, hit_user_code(ctx) ? HIT_USER : HIT_KERNEL, CONTEXT_CLOCK, false);
}

/*
 * An entry in two forms. NAME_asking asks the kernel what is mapped where, if a walk lacks a
 * mapping. That takes bpf_find_vma(), which Linux has since 5.17; a program that calls it does not
 * load before. Of the clock there is no such form: an interrupt may ask only once.
 */
#define ENTRY(section, name, context, body)                                                        \
	SEC(section)                                                                               \
	int name(context *ctx)                                                                     \
	{                                                                                          \
		const bool may_ask = false;                                                        \
                                                                                                   \
		return body;                                                                       \
	}                                                                                          \
	SEC(section)                                                                               \
	int name##_asking(context *ctx)                                                            \
	{                                                                                          \
		const bool may_ask = true;                                                         \
                                                                                                   \
		return body;                                                                       \
	}

ENTRY("?kprobe", on_kprobe, struct pt_regs, capture(ctx, HIT_KERNEL, CONTEXT_OTHER, may_ask))
ENTRY("?kprobe.multi", on_kprobe_multi, struct pt_regs,
      capture(ctx, HIT_KERNEL, CONTEXT_OTHER, may_ask))
ENTRY("?fentry", on_fentry, void, capture(ctx, HIT_KERNEL, CONTEXT_OTHER, may_ask))

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} no_programs SEC(".maps");

/*
 * User probes can be preempted. Since Linux 6.13 (a76ab5731e32; also in 6.12 stable) the kernel
 * runs programs of their type on one BPF stack per CPU, as if they could not, and the next task's
 * probe overwrites this one's. Programs that contain a tail call keep to the task's stack; so here
 * is a tail call, which never happens: the verifier knows that user_depth is not 0.
 */
static __always_inline int capture_preempted(void *ctx, bool may_ask)
{
	if (config.user_depth == 0)
		bpf_tail_call(ctx, &no_programs, 0);
	return capture(ctx, HIT_USER, CONTEXT_OTHER, may_ask);
}

ENTRY("?uprobe", on_uprobe, struct pt_regs, capture_preempted(ctx, may_ask))
/* Loaded with the attach type BPF_TRACE_UPROBE_MULTI, which has no section name in libbpf 1.1. */
ENTRY("?kprobe", on_uprobe_multi, struct pt_regs, capture_preempted(ctx, may_ask))
ENTRY("?tracepoint", on_tracepoint, void, capture(ctx, HIT_KERNEL, CONTEXT_TRACEPOINT, may_ask))
/* Serves any tracepoint: it uses no argument. */
ENTRY("?raw_tp", on_raw_tracepoint, void, capture(ctx, HIT_KERNEL, CONTEXT_OTHER, may_ask))

/* Adds the child of a followed process to those that are counted. */
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
 * A child has its parent's mappings, so it can be walked at once. User space hears of it later.
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
 * The old program's mappings are gone, and its addresses mean something else now.
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

/*
 * The id of a process may be reused once its last thread has exited.
 * TP_PROTO(struct task_struct *p)
 */
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
