/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The caches of walks in a scratch slot: layouts of processes, mappings, rules. An entry holds the
 * number of the layout it is of. Numbers are never used twice, so entries of a process whose
 * mappings have changed are not found any more.
 */
#ifndef STACKTALLY_BPF_UNWIND_CACHE_BPF_H
#define STACKTALLY_BPF_UNWIND_CACHE_BPF_H

#include "bpf/hints.h"
#include "bpf/scratch.bpf.h"
#include "bpf/unwind_tables.bpf.h"

/* The number of a process's layout; 0: not known. Sets the slot's interpreters, too. */
static __always_inline __u32 layout_of(struct scratch *slot, __u32 tgid)
{
	__u64 changes = *(volatile __u64 *)&unwind_changes;
	struct cached_layout *cached = &slot->layouts[tgid % CACHED_LAYOUTS];
	const struct wire_process *process;

	if (cached->tgid != tgid || cached->changes != changes) {
		process = look_up_process(tgid);
		cached->layout = process ? process->owner : 0;
		cached->n_interpreters = process ? process->n_interpreters : 0;
		cached->interpreter = process ? process->interpreters[0].number : 0;
		cached->interpreter_bias = process ? process->interpreters[0].bias : 0;
		cached->tgid = tgid;
		cached->changes = changes;
	}
	slot->interpreter = cached->interpreter;
	slot->interpreter_bias = cached->interpreter_bias;
	slot->n_interpreters = cached->n_interpreters;
	return cached->layout;
}

/* Puts the mapping of an address into the slot's walk; false when it is not cached. */
static __always_inline bool take_cached_mapping(struct scratch *slot, __u64 address)
{
	struct unwind_walk *walk = &slot->walk;

	for (__u32 i = 0; walk->layout && i < CACHED_MAPPINGS; i++) {
		const struct cached_mapping *cached = &slot->mappings[i];

		if (cached->layout != walk->layout || address < cached->start ||
		    address >= cached->end)
			continue;
		walk->start = cached->start;
		walk->end = cached->end;
		walk->bias = cached->bias;
		walk->root = cached->root;
		walk->owner = cached->owner;
		return true;
	}
	return false;
}

/* Caches the mapping that the slot's walk is in. */
static __always_inline void cache_mapping(struct scratch *slot)
{
	const struct unwind_walk *walk = &slot->walk;

	slot->mappings[slot->next_mapping++ % CACHED_MAPPINGS] = (struct cached_mapping){
		.start = walk->start,
		.end = walk->end,
		.bias = walk->bias,
		.root = walk->root,
		.owner = walk->owner,
		.layout = walk->layout,
	};
}

/* The index of the first of the two places of a rule, which are in one cache line. */
static __always_inline __u64 rule_index(const struct scratch *slot, __u64 address)
{
	__u64 block = address / UNWIND_CACHE_BLOCK;
	__u64 hash = (block ^ slot->walk.layout) * 0x9fb21c651e98df25ull >> 32;

	return hash % (CACHED_RULES / 2) * 2;
}

/* The cached rule for an address, or the place to cache it at. */
static __always_inline struct unwind_cached_rule *cached_rule(struct scratch *slot, __u64 address)
{
	__u64 at = rule_index(slot, address);
	__u64 second = !unwind_in_span(slot->rules[at].span, address);

	if (UNLIKELY(second && !unwind_in_span(slot->rules[at + 1].span, address)))
		second = slot->next_rule++ % 2;
	at += second;
	OPAQUE(at);
	return &slot->rules[at % CACHED_RULES];
}

#define PREFETCHED_CALLERS 16

static __always_inline void prefetch(const void *place)
{
	(void)*(const volatile __u64 *)place;
}

/*
 * Loads into the processor's cache what the walk will probably read: the cached rules of the
 * previous stack's frames, if it was of the same process, and both ends of the search for the first
 * frame's rule. Most callers are the same in the next sample, but have left the processor's cache
 * by then. Loading them together saves a tenth of a walk's time.
 */
static __always_inline void prefetch_walk(const struct scratch *slot)
{
	const struct wire_rule *rules = look_up_rule(0);
	const void *blocks = look_up_block(0);

	if (slot->last_layout != slot->walk.layout || !rules || !blocks)
		return;
	prefetch(&slot->rules[rule_index(slot, slot->walk.pc)]);
	prefetch(rules);
	for (__u32 i = 1; i <= PREFETCHED_CALLERS; i++) {
		__u64 at = (__u64)slot->last_first + i, frame;

		OPAQUE(at);
		if (i >= slot->last_n || at >= SCRATCH_WORDS)
			break;
		frame = slot->frames[at];
		at = rule_index(slot,
				(frame & WIRE_FRAME_ADDRESS) - (frame & WIRE_FRAME_EXACT ? 0 : 1));
		prefetch(&slot->rules[at]);
	}
}

#endif
