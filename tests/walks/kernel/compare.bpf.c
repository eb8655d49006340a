// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * Walks each kernel stack twice: by kernel_walk() and by the kernel's helper. Stacks of the first
 * CPU's idle task are left out: they end in boot code that has been freed, so kernel_walk() leaves
 * them to the helper.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <linux/ptrace.h>

#include <bpf/bpf_helpers.h>

#include "bpf/kernel_walk.bpf.h"
#include "compare.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u32);
	__type(value, struct compare_stack);
} asked SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct compare_difference);
} difference SEC(".maps");

struct compare_totals totals;

/* Global, so that the verifier checks it once. */
__noinline int stacks_differ(__u32 number, __u32 n)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	struct compare_stack *stack = bpf_map_lookup_elem(&asked, &number);

	if (!slot || !stack)
		return 1;
	for (__u32 i = 0; i < COMPARE_DEPTH; i++) {
		if (i >= n)
			break;
		if (stack->frames[i] != slot->frames[i])
			return 1;
	}
	return 0;
}

static __always_inline void compare(void *ctx, enum context_kind kind)
{
	__u32 number = 0, zero = 0, n_walked, n_asked;
	struct scratch *slot = scratch_take(&number);
	struct compare_stack *stack;
	struct compare_difference *first;
	long size;

	if (!slot)
		return;
	if ((__u32)bpf_get_current_pid_tgid() == 0 && bpf_get_smp_processor_id() == 0)
		goto out;
	stack = bpf_map_lookup_elem(&asked, &number);
	first = bpf_map_lookup_elem(&difference, &zero);
	if (!stack || !first)
		goto out;
	n_walked = kernel_walk(ctx, kind, slot, number);
	size = bpf_get_stack(ctx, stack->frames, sizeof(stack->frames), 0);
	n_asked = size < 0 ? 0 : size / sizeof(__u64);
	__sync_fetch_and_add(&totals.events, 1);
	if (n_walked == 0)
		goto out;
	__sync_fetch_and_add(&totals.walked, 1);
	/* The helper returns COMPARE_DEPTH frames at most. */
	if ((n_asked == n_walked || n_asked == COMPARE_DEPTH) && !stacks_differ(number, n_asked))
		goto out;
	__sync_fetch_and_add(&totals.different, 1);
	if (first->n_asked == 0) {
		first->n_walked = n_walked;
		first->n_asked = n_asked;
		__builtin_memcpy(first->walked, slot->frames, sizeof(first->walked));
		__builtin_memcpy(first->asked, stack->frames, sizeof(first->asked));
	}
out:
	scratch_release(slot);
}

SEC("perf_event")
int compare_clock(struct bpf_perf_event_data *ctx)
{
	if ((ctx->regs.cs & 3) != 3)
		compare(ctx, CONTEXT_CLOCK);
	return 0;
}

SEC("tracepoint")
int compare_tracepoint(void *ctx)
{
	compare(ctx, CONTEXT_TRACEPOINT);
	return 0;
}
