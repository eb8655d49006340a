/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Calls of functions, from entry to return, as they cross between the kernel side and user space:
 * the call that each thread is in, and sums of values by stack. Times are ns of CLOCK_MONOTONIC.
 */
#ifndef STACKTALLY_BPF_CALLS_WIRE_H
#define STACKTALLY_BPF_CALLS_WIRE_H

#include <linux/types.h>

#include "bpf/wire.h"

/*
 * The outermost call that a thread is in. The key is a number of the stack that it runs on
 * (call_key()). The entry outlives the call; only the thread itself writes to it.
 */
struct wire_call {
	struct wire_hash stack; /* that made the call; 0: that stack was lost */
	__u64 sp;		/* at entry: where the return address is */
	__u64 began;		/* 0: the call has returned */
	__u32 tid;		/* the thread, as the kernel numbers it */
	__u32 reserved;
};

/*
 * A set: the sums of up to WIRE_SUMS stacks, in one line of a cache. The array has the sets of
 * epoch 0 first, CPU after CPU, as many as there are sets of counts. A free entry has no values.
 */
#define WIRE_SUMS 2

struct wire_sums {
	__u64 low[WIRE_SUMS];
	__u64 sum[WIRE_SUMS];
	__u64 largest[WIRE_SUMS];
	__u32 high[WIRE_SUMS];
	__u32 n[WIRE_SUMS]; /* values */
};

/* The sum of a stack that another one displaced from its set, or that is in no set (WIRE_KIND_SUM).
 */
struct wire_sum {
	struct wire_hash hash;
	__u64 sum;
	__u32 epoch;
	__u32 kind; /* enum wire_kind */
	__u64 largest;
	__u64 n;
};

/* Per CPU; user space adds them up. */
struct wire_call_counters {
	__u64 unreturned;  /* calls that were jumped over, or whose thread ended in them */
	__u64 unentered;   /* returns from calls that were not seen to begin */
	__u64 lost_calls;  /* calls of threads for which the map of calls had no room */
	__u64 lost_values; /* values whose stack was lost, or that found no room in the ring */
};

_Static_assert(sizeof(struct wire_call) == 40, "no padding");
_Static_assert(sizeof(struct wire_sums) == 64, "a set of sums is a line of a cache");
_Static_assert(__builtin_offsetof(struct wire_sum, kind) ==
			       __builtin_offsetof(struct wire_count, kind) &&
		       __builtin_offsetof(struct wire_sum, epoch) ==
			       __builtin_offsetof(struct wire_count, epoch),
	       "all records have their kind at the same offset");

#endif
