/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Adds values to stacks that were sent before: number, sum and largest of each stack, by CPU and
 * epoch as counts are (bpf/count.bpf.h).
 */
#ifndef STACKTALLY_BPF_SUMS_BPF_H
#define STACKTALLY_BPF_SUMS_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/calls_wire.h"
#include "bpf/count.bpf.h"
#include "bpf/variables.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by user space */
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct wire_sums);
} sums SEC(".maps");

/* False when the ring has no room. */
static __always_inline bool send_sum(const struct wire_sum *sum)
{
	return bpf_ringbuf_output(&ring, (void *)sum, sizeof(*sum), BPF_RB_NO_WAKEUP) == 0;
}

/* Sends the sum of a set's entry. */
static __always_inline bool evict_sum(const struct wire_sums *set, __u32 way, __u32 now)
{
	const struct wire_sum gone = {
		.hash = { .low = set->low[way], .high = set->high[way] },
		.sum = set->sum[way],
		.epoch = now,
		.kind = WIRE_KIND_SUM,
		.largest = set->largest[way],
		.n = set->n[way],
	};

	return send_sum(&gone);
}

/* Adds a value in a set. False when its stack is new there and the ring has no room. */
static __always_inline bool add_in(struct wire_sums *set, const struct wire_hash *stack,
				   __u64 value, __u32 now)
{
	__u32 least = ~0u, way = 0;

#pragma unroll
	for (__u32 i = 0; i < WIRE_SUMS; i++) {
		__u32 n = set->n[i];

		/* A sum that would be too large goes on in another entry. */
		if (n && n < ~0u && set->low[i] == stack->low &&
		    set->high[i] == (__u32)stack->high && set->sum[i] + value >= value) {
			set->n[i] = n + 1;
			set->sum[i] += value;
			if (value > set->largest[i])
				set->largest[i] = value;
			return true;
		}
		if (n < least) {
			least = n;
			way = i;
		}
	}
	if (way >= WIRE_SUMS || (least && !evict_sum(set, way, now)))
		return false;
	set->low[way] = stack->low;
	set->high[way] = (__u32)stack->high;
	set->sum[way] = set->largest[way] = value;
	set->n[way] = 1;
	return true;
}

/*
 * Adds a value to a stack. False: it is lost. Programs of threads that are preempted meet on a CPU:
 * one of them uses the sets, the others send their value by itself.
 */
static __always_inline bool add_value(const struct wire_hash *stack, __u64 value)
{
	__u32 now = epoch & (WIRE_EPOCHS - 1), zero = 0;
	__u32 key = (now * config.cpus + bpf_get_smp_processor_id()) * config.sets +
		    ((__u32)stack->low & (config.sets - 1));
	struct wire_counters *counter = bpf_map_lookup_elem(&counters, &zero);
	struct wire_sums *set = bpf_map_lookup_elem(&sums, &key);
	bool added;

	if (!counter || !set)
		return false;
	if (sets_take(counter)) {
		added = add_in(set, stack, value, now);
		sets_release(counter);
	} else {
		const struct wire_sum alone = {
			.hash = *stack,
			.sum = value,
			.epoch = now,
			.kind = WIRE_KIND_SUM,
			.largest = value,
			.n = 1,
		};

		added = send_sum(&alone);
	}
	return added;
}

#endif
