/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Time off the CPU, as it crosses between the kernel side and user space: what is known of each
 * thread, and times by stack. All times are ns, of CLOCK_MONOTONIC where they are points in time.
 */
#ifndef STACKTALLY_BPF_OFF_CPU_WIRE_H
#define STACKTALLY_BPF_OFF_CPU_WIRE_H

#include <linux/types.h>

#include "bpf/wire.h"

/*
 * A thread that left a CPU, or that user space found asleep. The key is its id in our pid
 * namespace. The kernel side writes it field by field; a copy that was made meanwhile has a wrong
 * `check`.
 */
struct wire_thread {
	struct wire_hash stack; /* where it left the CPU; 0: that stack was lost */
	struct wire_hash waker; /* the stack that made it ready to run; 0: none, or not known */
	__u64 out;		/* when it left; 0: it is on a CPU; WIRE_OUT_BEFORE */
	__u64 wake;		/* when it became ready to run again; 0: it is blocked */
	__u64 ran;		/* ns on a CPU until it left, by the scheduler's count */
	__u64 longest;		/* ns of its longest absence, decaying; WIRE_LONGEST at first */
	__u32 weight;		/* how many absences this one stands for; 0: not counted */
	__u32 walk;  /* ns of it that the walk took; absences without a walk lack these */
	__u64 check; /* wire_thread_check() */
};

/* `out`, set by user space: the thread may have been off the CPU when the measurement began. */
#define WIRE_OUT_BEFORE 1
/* `wake`, set by user space: and it was ready to run. */
#define WIRE_WAKE_BEFORE 1

#define WIRE_LONGEST 100000000u

static inline __attribute__((always_inline)) __u64
wire_thread_check(const struct wire_thread *thread)
{
	return ~(thread->stack.low ^ thread->stack.high << 17 ^ thread->waker.low << 3 ^
		 thread->waker.high << 19 ^ thread->out ^ thread->wake << 1 ^ thread->ran << 2 ^
		 (__u64)thread->weight << 32);
}

/*
 * A set: the times of up to WIRE_TIMES stacks, in one line of a cache. The array has the sets of
 * epoch 0 first, CPU after CPU, as many as there are sets of counts.
 */
#define WIRE_TIMES 2

struct wire_times {
	__u64 low[WIRE_TIMES];
	__u64 blocked[WIRE_TIMES];
	__u64 waiting[WIRE_TIMES];
	__u32 high[WIRE_TIMES];
	__u64 reserved;
};

/* The times of a stack that another one displaced from its set (WIRE_KIND_TIME). */
struct wire_time {
	struct wire_hash hash;
	__u64 blocked;
	__u32 epoch;
	__u32 kind; /* enum wire_kind */
	__u64 waiting;
};

/* The stack and the waker that a key of times stands for (WIRE_KIND_PAIR). */
struct wire_pair {
	struct wire_hash hash;
	__u64 stack_low;
	__u32 epoch;
	__u32 kind; /* enum wire_kind */
	__u64 waker_low;
	__u32 stack_high, waker_high;
};

static inline __attribute__((always_inline)) struct wire_hash
wire_pair_hash(const struct wire_hash *stack, const struct wire_hash *waker)
{
	struct wire_hash hash = {
		.low = (stack->low ^ waker->low * 0x9fb21c651e98df25ull) | 1,
		.high = (__u32)(stack->high ^ waker->high * 0x2c1b3c6dull),
	};

	return hash;
}

/*
 * The time that an absence of `ns` adds for itself and the others that it stands for. *walk ns of
 * it were the walk, which the others lack: these count once. *walk becomes the part not in `ns`.
 */
static inline __attribute__((always_inline)) __u64 wire_weighted(__u64 ns, __u32 weight,
								 __u64 *walk)
{
	__u64 once = ns < *walk ? ns : *walk;

	*walk -= once;
	return (ns - once) * weight + once;
}

#define WIRE_SLEEPER_DEPTH 127 /* the most that the kernel's helper finds by default */

/* A thread that sleeps since before the measurement, as the iterator over threads writes it. */
struct wire_sleeper {
	__u64 image;	      /* as in struct wire_stack */
	__u64 stack_start;    /* of the process: the stack pointer that it began with */
	__u64 thread_pointer; /* where the thread finds its own data */
	__u64 away; /* ns since it left its CPU, when the reader came to its own; 0: not known */
	__u32 tid;
	__u32 n_kernel; /* frames */
	__u32 end;	/* enum wire_end; WIRE_END_NONE: the walk is to be begun */
	__u32 reserved;
	struct unwind_walk walk;	  /* pc, exact and registers are set */
	__u64 frames[WIRE_SLEEPER_DEPTH]; /* of the kernel */
};

/* Per CPU; user space adds them up. */
struct wire_off_cpu_counters {
	__u64 lost_time;    /* ns whose stack was lost, or whose record had no room in the ring */
	__u64 lost_threads; /* leaves of threads for which the map of threads had no room */
	__u64 lost_ends;    /* returns to a CPU that were noticed only when the thread left again */
	__u64 unwalked;	    /* leaves that were not walked, to stay within the budget */
};

_Static_assert(sizeof(struct wire_thread) == 80, "no padding");
_Static_assert(sizeof(struct wire_times) == 64, "a set of times is a line of a cache");
_Static_assert(__builtin_offsetof(struct wire_time, kind) ==
			       __builtin_offsetof(struct wire_count, kind) &&
		       __builtin_offsetof(struct wire_time, epoch) ==
			       __builtin_offsetof(struct wire_count, epoch) &&
		       __builtin_offsetof(struct wire_pair, kind) ==
			       __builtin_offsetof(struct wire_count, kind),
	       "all records have their kind at the same offset");

#endif
