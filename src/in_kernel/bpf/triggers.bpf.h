/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The entry programs of the triggers.
 *
 * perf_event                an event of the clock on a CPU: a sample
 * kprobe, kprobe.multi      calls of a kernel function, and of many by one link
 * fentry                    calls of a kernel function, where the kernel has no kprobes
 * uprobe, on_uprobe_multi   calls of a user function or a USDT probe, and of many by one link
 * on_user_call, on_kernel_call  calls that are timed: their entry (bpf/calls.bpf.h); ..._return
 *                           their return
 * tracepoint, raw_tp        a tracepoint through a perf event, and a raw one
 * raw_tp/sched_switch       a thread leaves its CPU, another enters (bpf/off_cpu.bpf.h)
 * raw_tp/sched_waking       the waker of a thread
 *
 * They are compiled twice: for languages/interpreted.bpf.c they also walk the stacks of
 * interpreters (languages/interpreted.bpf.c). The verifier takes as long for that part as for all
 * the rest, so the programs without it are attached, and jump to those with it once these are
 * loaded, which happens when the first interpreter is found.
 */
#ifndef STACKTALLY_BPF_TRIGGERS_BPF_H
#define STACKTALLY_BPF_TRIGGERS_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <linux/ptrace.h>

#include <bpf/bpf_helpers.h>

#include "bpf/calls.bpf.h"
#include "bpf/capture.bpf.h"
#include "bpf/interpreter_hooks.bpf.h"
#include "bpf/off_cpu.bpf.h"
#include "bpf/sleepers.bpf.h"

/* GPL among them, which the stack helpers require. */
char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The program that walks the stacks of interpreters too, once it is loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} interpreted SEC(".maps");

/* Those of the scheduler's: beside samples they are of another type, and a map has one type. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, WIRE_N_INTERPRETED);
	__type(key, __u32);
	__type(value, __u32);
} interpreted_switch SEC(".maps");

static const bool walks_interpreters = WALKS_INTERPRETERS;

/*
 * Captures an event, or jumps to the program that does it better.
 *
 * User probes can be preempted. Since Linux 6.13 (a76ab5731e32; also in 6.12 stable) the kernel
 * runs programs of their type on one BPF stack per CPU, as if they could not, and the next task's
 * probe overwrites this one's. Programs that contain a tail call keep to the task's stack; so there
 * is one in the other program, too. It never happens: the verifier knows that user_depth is not 0.
 */
static __always_inline int on_event(void *ctx, enum hit hit, enum context_kind kind, bool may_ask)
{
	if (!walks_interpreters || config.user_depth == 0)
		bpf_tail_call(ctx, &interpreted, 0);
	return capture(ctx, hit, kind, may_ask);
}

/* The same for the entry of a call that is timed. */
static __always_inline int on_call_of(struct pt_regs *ctx, enum hit hit, bool may_ask)
{
	if (!walks_interpreters || config.user_depth == 0)
		bpf_tail_call(ctx, &interpreted, 0);
	return on_call(ctx, hit, may_ask);
}

SEC("?perf_event")
int on_clock(struct bpf_perf_event_data *ctx)
{
	return on_event(ctx, hit_user_code(ctx) ? HIT_USER : HIT_KERNEL, CONTEXT_CLOCK, false);
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

ENTRY("?kprobe", on_kprobe, struct pt_regs, on_event(ctx, HIT_KERNEL, CONTEXT_OTHER, may_ask))
ENTRY("?kprobe.multi", on_kprobe_multi, struct pt_regs,
      on_event(ctx, HIT_KERNEL, CONTEXT_OTHER, may_ask))
ENTRY("?fentry", on_fentry, void, on_event(ctx, HIT_KERNEL, CONTEXT_OTHER, may_ask))

ENTRY("?uprobe", on_uprobe, struct pt_regs, on_event(ctx, HIT_USER, CONTEXT_OTHER, may_ask))
/* Loaded with the attach type BPF_TRACE_UPROBE_MULTI, which has no section name in libbpf 1.1. */
ENTRY("?kprobe", on_uprobe_multi, struct pt_regs, on_event(ctx, HIT_USER, CONTEXT_OTHER, may_ask))
ENTRY("?tracepoint", on_tracepoint, void, on_event(ctx, HIT_KERNEL, CONTEXT_TRACEPOINT, may_ask))
/* Serves any tracepoint: it uses no argument. */
ENTRY("?raw_tp", on_raw_tracepoint, void, on_event(ctx, HIT_KERNEL, CONTEXT_OTHER, may_ask))

/*
 * Of single probes and, with the attach types BPF_TRACE_UPROBE_MULTI and BPF_TRACE_KPROBE_MULTI, of
 * many by one link.
 */
ENTRY("?kprobe", on_user_call, struct pt_regs, on_call_of(ctx, HIT_USER, may_ask))
ENTRY("?kprobe", on_kernel_call, struct pt_regs, on_call_of(ctx, HIT_KERNEL, may_ask))

/*
 * TP_PROTO(bool preempt, struct task_struct *prev, struct task_struct *next, unsigned prev_state);
 * the last since Linux 5.18, so that the state is read from the task.
 */
SEC("?raw_tp/sched_switch")
int on_switch(struct bpf_raw_tracepoint_args *ctx)
{
	if (!walks_interpreters)
		bpf_tail_call(ctx, &interpreted_switch, WIRE_INTERPRETED_SWITCH);
	return on_switch_to(ctx);
}

/* TP_PROTO(struct task_struct *p). Unlike sched_wakeup, always on the CPU of the waker. */
SEC("?raw_tp/sched_waking")
int on_waking(struct bpf_raw_tracepoint_args *ctx)
{
	if (!walks_interpreters)
		bpf_tail_call(ctx, &interpreted_switch, WIRE_INTERPRETED_WAKING);
	return on_waking_of(ctx);
}

#endif
