/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Counts stacks by a hash of their content, and sends each new one to user space.
 *
 * There are two epochs of counts. User space switches the epoch and waits for a grace period; then
 * no capture can still add to the old epoch, its counts are final, and every event is in exactly
 * one epoch.
 *
 * Each CPU has its own sets of three counts, a set being one line of a cache. A stack that is not
 * in its set is sent through the ring buffer, frames and all, and then entered. If the ring has no
 * room, the event is counted as lost and the stack is not entered, so the next event tries again. A
 * full set evicts its lowest count, which is sent, too.
 */
#ifndef STACKTALLY_BPF_COUNT_BPF_H
#define STACKTALLY_BPF_COUNT_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/hints.h"
#include "bpf/kernel.bpf.h"
#include "bpf/scratch.bpf.h"
#include "bpf/stack_copy.bpf.h"
#include "bpf/stack_hash.h"
#include "bpf/variables.bpf.h"
#include "bpf/wire.h"

#define HEAD_WORDS ((sizeof(struct wire_stack) - WIRE_HASH_FROM) / sizeof(__u64))

struct process_image {
	__u64 image;
	__u64 tgid;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_counters);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by user space */
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct wire_counts);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* set by user space */
} ring SEC(".maps");

/* Process images that had a stack sent. The first stack of each wakes user space at once. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct process_image);
	__type(value, __u8);
} seen_images SEC(".maps");

/* Words that one call adds to a hash; an even number, as HEAD_WORDS is. */
#define HASH_WORDS 32

_Static_assert(HEAD_WORDS % 2 == 0, "words are hashed in pairs");

/*
 * Adds up to HASH_WORDS words, of [from, to), to the hash of the slot's stack; if their number is
 * odd, the word behind them, too. A global function, which the verifier checks once.
 */
__noinline int hash_some(__u32 number, __u32 from, __u32 to)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	const __u64 *word;
	struct wire_hash h;
	__u64 at = from;

	OPAQUE(at);
	if (!slot || at > HEAD_WORDS + 2 * WIRE_MAX_DEPTH)
		return 0;
	word = (const void *)&slot->stack + WIRE_HASH_FROM + at * sizeof(__u64);
	h = slot->stack.hash;
	for (__u32 i = 0; i < HASH_WORDS; i += 2) {
		if (from + i >= to)
			break;
		stack_hash_pair(&h, word[i], word[i + 1]);
	}
	slot->stack.hash = h;
	return 0;
}

/* Hashes the slot's stack, of `words` words, its head and its frames. */
__noinline int hash(__u32 number, __u32 words)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	struct wire_hash h = { config.seed[0], config.seed[1] };
	__u32 most = HEAD_WORDS + config.kernel_depth + config.user_depth;
	__u64 behind = (__u64)words - HEAD_WORDS;

	OPAQUE(behind);
	if (!slot || behind > 2 * WIRE_MAX_DEPTH)
		return 0;
	slot->frames[behind] = 0;
	slot->stack.hash = h;
	for (__u32 i = 0; i < HEAD_WORDS + 2 * WIRE_MAX_DEPTH; i += HASH_WORDS) {
		if (i >= most || i >= words)
			break;
		hash_some(number, i, words);
	}
	h = slot->stack.hash;
	stack_hash_finish(&h);
	slot->stack.hash = h;
	return 0;
}

/* Whether user space has to hear of the process now, to learn its mappings. */
static __always_inline bool first_of_process(const struct scratch *slot, __u32 number)
{
	struct process_image image = { .image = slot->stack.image, .tgid = slot->stack.tgid };
	__u8 seen = 1;

	/* Kernel threads have no mappings, and processes with a layout are known already. */
	if (!slot->stack.image || (by_tables() && slot->walk.layout))
		return false;
	if (bpf_map_lookup_elem(&seen_images, &image))
		return false;
	if (may_lock(number))
		bpf_map_update_elem(&seen_images, &image, &seen, BPF_ANY);
	return true;
}

/*
 * In an NMI, where samples of hardware counters are taken, kernels before 6.15 or so only try to
 * take the ring's lock, and give up where another CPU has it for a moment. We try again for as
 * long as this, which is many such moments. It is in vain only if the NMI has interrupted the
 * holder of the lock.
 */
#define RING_PATIENCE_NS 20000
#define RING_TRIES	 8 /* of a round; and as many rounds */

enum slot_record {
	RECORD_STACK, /* `stack` and what follows it */
	RECORD_COUNT, /* `gone` */
};

/* 0: it was sent; -1: the ring is full, or the time is over; 1: neither. Checked by itself once. */
__noinline int send_once(__u32 number, __u32 record, __u64 size, __u64 wake, __u64 until)
{
	struct scratch *slot = seldom_slot(number);
	long r;

	if (!slot || size > sizeof(slot->stack) + sizeof(slot->frames) ||
	    bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) + size + BPF_RINGBUF_HDR_SZ >
		    bpf_ringbuf_query(&ring, BPF_RB_RING_SIZE) ||
	    bpf_ktime_get_ns() > until)
		return -1;
	if (record == RECORD_COUNT)
		r = bpf_ringbuf_output(&ring, &slot->gone, sizeof(slot->gone), wake);
	else
		r = bpf_ringbuf_output(&ring, &slot->stack, size, wake);
	return r ? 1 : 0;
}

/* As send_once(), RING_TRIES times. */
__noinline int send_round(__u32 number, __u32 record, __u64 size, __u64 wake, __u64 until)
{
	int r = 1;

	for (__u32 i = 0; i < RING_TRIES && r > 0; i++)
		r = send_once(number, record, size, wake, until);
	return r;
}

/* Sends what the kernel did not take at once, unless the ring is full. 0 when it was sent. */
__noinline int send_again(__u32 number, __u32 record, __u64 size, __u64 wake)
{
	__u64 until = bpf_ktime_get_ns() + RING_PATIENCE_NS;
	int r = 1;

	for (__u32 i = 0; i < RING_TRIES && r > 0; i++)
		r = send_round(number, record, size, wake, until);
	return r;
}

/*
 * Sends `size` bytes from the slot's stack on; false when the ring has no room. Linux 5.10 and 6.1
 * forget the bounds of a number that the compiler keeps on the stack, so the size is checked here.
 */
__noinline int send_bytes(__u32 number, __u64 size, __u64 wake)
{
	struct scratch *slot = seldom_slot(number);

	if (!slot || size > sizeof(slot->stack) + sizeof(slot->frames))
		return false;
	return bpf_ringbuf_output(&ring, &slot->stack, size, wake) == 0 ||
	       send_again(number, RECORD_STACK, size, wake) == 0;
}

/* Sends the slot's stack, of enum wire_kind; false when the ring has no room. */
__noinline int send(__u32 number, __u32 kind)
{
	struct scratch *slot = seldom_slot(number);
	__u64 size, wake = BPF_RB_NO_WAKEUP;

	if (!slot)
		return false;
	size = sizeof(slot->stack) +
	       ((__u64)slot->stack.n_kernel + slot->stack.n_user) * sizeof(__u64);
	/* User space polls anyway; it is woken for what cannot wait. */
	if (first_of_process(slot, number) ||
	    bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > config.wake_at)
		wake = BPF_RB_FORCE_WAKEUP;
	slot->stack.kind = kind;
	slot->stack.time = bpf_ktime_get_ns();
	return send_bytes(number, size, wake);
}

static __always_inline void lose(__u64 *counter)
{
	__sync_fetch_and_add(counter, 1);
}

/*
 * Sends a stack whose walk user space can finish, with a copy of the user stack. False when there
 * is no room or the ration is used up: then the stack is to be counted as it is.
 */
static __always_inline bool send_unfinished(struct scratch *slot, __u32 number,
					    struct wire_counters *counter)
{
	__u32 words = (__u32)slot->stack.n_kernel + slot->stack.n_user;
	__u32 rest;
	__u64 size;

	/* Half of the ring is reserved for whole stacks, which are smaller and worth more. */
	if (bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > 2ull * config.wake_at ||
	    !stack_copy_is_affordable(slot)) {
		lose(&counter->withheld);
		return false;
	}
	rest = stack_copy_append(number, words);
	if (rest == 0)
		return false;
	size = sizeof(slot->stack) + (__u64)words * sizeof(__u64) + rest;
	slot->stack.kind = WIRE_KIND_UNFINISHED;
	slot->stack.epoch = epoch;
	slot->stack.time = bpf_ktime_get_ns();
	if (!send_bytes(number, size, BPF_RB_FORCE_WAKEUP))
		return false;
	__sync_fetch_and_add(&counter->unfinished, 1);
	return true;
}

/*
 * Counts an event and takes a slot for its stack (bpf/scratch.bpf.h). NULL when none is free, which
 * is counted as a loss.
 */
static __always_inline struct scratch *event_slot(struct wire_counters **ret_counter,
						  __u32 *ret_number)
{
	__u32 zero = 0;
	struct wire_counters *counter = bpf_map_lookup_elem(&counters, &zero);
	struct scratch *slot;

	*ret_counter = counter;
	if (!counter)
		return NULL;
	__sync_fetch_and_add(&counter->events, 1);
	slot = scratch_take(ret_number);
	if (!slot)
		lose(&counter->lost_nested);
	return slot;
}

/* Takes the CPU's sets, which one capture may use at a time; false when they are in use. */
static __always_inline bool sets_take(struct wire_counters *counter)
{
	if (config.spares == 0)
		return true;
	/* Add first, then look: see scratch_take(). */
	__sync_fetch_and_add(&counter->counting, 1);
	if (*(volatile __u64 *)&counter->counting == 1)
		return true;
	__sync_fetch_and_add(&counter->counting, (__u64)-1);
	return false;
}

static __always_inline void sets_release(struct wire_counters *counter)
{
	if (config.spares > 0)
		__sync_fetch_and_add(&counter->counting, (__u64)-1);
}

/* Evicts an entry of a set: sends its count. False when the ring has no room. */
static __always_inline bool evict(struct wire_counts *set, __u32 way, struct scratch *slot,
				  __u32 number, __u32 now)
{
	slot->gone = (struct wire_count){
		.hash = { .low = set->low[way], .high = set->high[way] },
		.count = set->count[way],
		.epoch = now,
		.kind = WIRE_KIND_COUNT,
	};

	if (bpf_ringbuf_output(&ring, &slot->gone, sizeof(slot->gone), BPF_RB_NO_WAKEUP) &&
	    send_again(number, RECORD_COUNT, sizeof(slot->gone), BPF_RB_NO_WAKEUP))
		return false;
	set->count[way] = 0;
	return true;
}

/* Counts the slot's stack in a set. False when it is new and the ring has no room. */
static __always_inline bool count_in(struct wire_counts *set, struct scratch *slot, __u32 number,
				     __u32 now)
{
	__u64 low = slot->stack.hash.low, least = ~0ull >> 1, way = 0;
	__u32 high = slot->stack.hash.high;

#pragma unroll
	for (__u32 i = 0; i < WIRE_WAYS; i++) {
		__u64 count = set->count[i];

		if (count && set->low[i] == low && set->high[i] == high) {
			set->count[i] = count + 1;
			return true;
		}
		way = select_lower(count, least, i, way);
		least = smaller(count, least);
	}
	OPAQUE(way);
	/* A new stack takes the place of the lowest count. */
	if (way >= WIRE_WAYS || (least && !evict(set, way, slot, number, now)) ||
	    !send(number, WIRE_KIND_STACK))
		return false;
	set->low[way] = low;
	set->high[way] = high;
	set->count[way] = 1;
	return true;
}

/* Counts the slot's stack, or the event as lost: then false. */
static __always_inline bool count(struct scratch *slot, __u32 number, struct wire_counters *counter)
{
	__u32 now = epoch & (WIRE_EPOCHS - 1);
	__u32 key = (now * config.cpus + bpf_get_smp_processor_id()) * config.sets +
		    ((__u32)slot->stack.hash.low & (config.sets - 1));
	struct wire_counts *set = bpf_map_lookup_elem(&counts, &key);
	bool counted = false;

	slot->stack.epoch = now;
	if (set && sets_take(counter)) {
		counted = count_in(set, slot, number, now);
		sets_release(counter);
	} else {
		counted = send(number, WIRE_KIND_EVENT);
	}
	if (!counted)
		lose(&counter->lost_ring);
	return counted;
}

#endif
