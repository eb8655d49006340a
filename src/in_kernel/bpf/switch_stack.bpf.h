/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The kernel stack of a task that leaves its CPU, for programs of the raw tracepoint sched_switch.
 * Their context has no registers, but it lies on that stack, at a fixed distance below the return
 * address of the scheduler's call. A walk by the kernel's tables (bpf/kernel_walk.bpf.h) begins
 * there, and takes a fraction of the time of bpf_get_stack().
 *
 * The distance depends on the kernel's build, and on whether one program or several are attached.
 * It is learned from the stacks that bpf_get_stack() finds: they tell the return address, and a
 * search on the stack tells where that is. If the scheduler's own rule needs its frame pointer, the
 * caller's return address tells where that points. Walks from a place are used once SWITCH_CHECKS
 * of them have found what bpf_get_stack() found.
 */
#ifndef STACKTALLY_BPF_SWITCH_STACK_BPF_H
#define STACKTALLY_BPF_SWITCH_STACK_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "arch/kernel.h"
#include "bpf/kernel_walk.bpf.h"
#include "bpf/scratch.bpf.h"
#include "bpf/stack_helper.bpf.h"
#include "bpf/variables.bpf.h"

#if ARCH_HAS_ORC

#define SWITCH_CHECKS 16	     /* walks from a place that are compared */
#define SWITCH_TRIES  256	     /* places; then only bpf_get_stack() is used */
#define SWITCH_FRAMES 8		     /* the first frames, of which one is the scheduler's */
#define SWITCH_WORDS  64	     /* of the stack, from the context on, that are searched */
#define SWITCH_DEPTH  64	     /* longer stacks are not compared */
#define SWITCH_KEPT   WIRE_MAX_DEPTH /* where in frames[] a walk is kept for comparison */

/*
 * A place: the return address; and in words from the context on, where it is, and where the frame
 * pointer points (0: it is not needed). 0: no place.
 */
#define PLACE_ADDRESS	     ((1ull << 48) - 1)
#define PLACE_OF(at, fp, ip) ((__u64)(fp) << 56 | (__u64)(at) << 48 | ((ip)&PLACE_ADDRESS))
#define PLACE_AT(place)	     ((place) >> 48 & 255)
#define PLACE_FP(place)	     ((place) >> 56)

/* Begins a walk at the place; false: the return address is not there. */
static __always_inline bool switch_begin(void *ctx, struct scratch *slot, __u32 number)
{
	struct kernel_walk *walk = &slot->kernel;
	__u64 place = switch_learned.place, ip = 0, context, at;

	/* In memory it is a number, with which the verifier allows arithmetic. */
	*(volatile __u64 *)&walk->context = (__u64)ctx;
	context = *(volatile __u64 *)&walk->context;
	at = context + PLACE_AT(place) * sizeof(ip);
	slot->window.size = 0;
	if (!place || stack_word(slot, number, at, &ip) ||
	    (ip & PLACE_ADDRESS) != (place & PLACE_ADDRESS))
		return false;
	walk->ip = ip;
	walk->sp = at + sizeof(ip);
	/* 0: a rule that needs it fails, and bpf_get_stack() walks instead. */
	walk->bp = PLACE_FP(place) ? context + PLACE_FP(place) * sizeof(ip) : 0;
	walk->exact = 0;
	return true;
}

/* Keeps the `n` frames that a walk found. */
__noinline int switch_keep(__u32 number, __u32 n)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);

	for (__u32 i = 0; slot && i < SWITCH_DEPTH; i++) {
		if (i >= n)
			break;
		slot->frames[SWITCH_KEPT + i] = slot->frames[i];
	}
	return 0;
}

/*
 * The index in frames[], which has `n` frames, of the scheduler's; SWITCH_FRAMES: there is none.
 * Global functions, as all with a loop here: the verifier checks each of them once.
 */
__noinline __u32 switch_frame(__u32 number, __u32 n)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);

	for (__u32 i = 0; slot && i < SWITCH_FRAMES; i++)
		if (i < n && slot->frames[i] - orc.sched < orc.sched_end - orc.sched)
			return i;
	return SWITCH_FRAMES;
}

/* Whether the `n` frames of the kept walk differ from those of frames[] from `from` on. */
__noinline __u32 switch_differs(__u32 number, __u32 from, __u32 n)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	__u64 differences = 0;

	for (__u32 i = 0; slot && i < SWITCH_DEPTH; i++) {
		__u64 difference = slot->frames[SWITCH_KEPT + i] ^
				   slot->frames[(from & (SWITCH_FRAMES - 1)) + i];

		if (i >= n)
			break;
		OPAQUE(difference);
		differences |= difference;
	}
	return differences != 0;
}

/* The first of the words on the stack from `first` on that has this value; SWITCH_WORDS: none. */
__noinline __u32 switch_find(__u32 number, __u64 value, __u32 first)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);

	if (!slot || bpf_probe_read_kernel(slot->window.bytes, SWITCH_WORDS * sizeof(__u64),
					   (void *)slot->kernel.context))
		return SWITCH_WORDS;
	for (__u32 i = 0; i < SWITCH_WORDS; i++)
		if (i >= first && ((__u64 *)slot->window.bytes)[i] == value)
			return i;
	return SWITCH_WORDS;
}

/* Takes the place to try after `place`. The scheduler's frame is frames[from]. */
static __always_inline void switch_next_place(struct scratch *slot, __u32 number, __u32 from,
					      __u64 place)
{
	__u32 at = PLACE_AT(place), fp = PLACE_FP(place);
	__u64 address, caller;

	OPAQUE(from);
	address = slot->frames[from & (SWITCH_FRAMES - 1)];
	caller = slot->frames[(from & (SWITCH_FRAMES - 1)) + 1];
	if (place) {
		/* The return address is just above what the frame pointer points to. */
		fp = switch_find(number, caller, (fp ? fp + 1 : at) + 1);
		if (fp < SWITCH_WORDS) {
			switch_learned.place = PLACE_OF(at, fp - 1, address);
			return;
		}
	}
	at = switch_find(number, address, at + 1);
	switch_learned.place = at < SWITCH_WORDS ? PLACE_OF(at, 0, address) : 0;
}

/*
 * Compares a walk of `n_walk` frames with the `n` that the kernel found. After a walk that was
 * wrong or failed, or could not be begun, another place is tried.
 */
static __always_inline void switch_learn(struct scratch *slot, __u32 number, bool begun,
					 __u32 n_walk, __u32 n)
{
	__u64 place = begun ? switch_learned.place : 0;
	__u32 from;

	/* One that failed where others did not has met code that only the kernel can unwind. */
	if (n >= config.kernel_depth || n > SWITCH_DEPTH ||
	    (begun && !n_walk && switch_learned.checked))
		return;
	from = switch_frame(number, n);
	if (from >= SWITCH_FRAMES) {
		switch_learned.tries++;
		return;
	}
	if (n_walk && n_walk == n - from && !switch_differs(number, from, n_walk)) {
		switch_learned.checked++;
		return;
	}
	switch_learned.tries++;
	switch_learned.checked = 0;
	switch_next_place(slot, number, from, place);
}

/*
 * Writes the kernel stack of the current task, which leaves its CPU, to the slot's frames. Returns
 * the number of frames; 0: ask the kernel.
 */
static __always_inline __u64 switch_stack(void *ctx, struct scratch *slot, __u32 number)
{
	bool begun = has_orc() && switch_begin(ctx, slot, number);
	__u32 n = begun ? kernel_walk_on(slot, number) : 0;
	__u64 kernel;

	if (switch_learned.checked >= SWITCH_CHECKS && begun)
		return n;
	if (n)
		switch_keep(number, n);
	kernel = helper_kernel_stack(ctx, slot) / sizeof(__u64);
	if (switch_learned.tries >= SWITCH_TRIES)
		switch_learned.place = 0;
	else if (has_orc())
		switch_learn(slot, number, begun, n, kernel);
	return kernel;
}

#else

static __always_inline __u64 switch_stack(void *ctx, struct scratch *slot, __u32 number)
{
	(void)number;
	return helper_kernel_stack(ctx, slot) / sizeof(__u64);
}

#endif

#endif
