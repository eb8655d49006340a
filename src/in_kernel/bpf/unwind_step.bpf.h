/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The step of bpf/unwind_step.h on a scratch slot's walk, by the tables in BPF maps.
 *
 * The step, its two searches and the steps from signal frames and generated code are global
 * functions: the verifier checks each once, however many ways lead to it. On Linux 5.10 the
 * arguments of such functions must be numbers, so they look up the slot.
 */
#ifndef STACKTALLY_BPF_UNWIND_STEP_BPF_H
#define STACKTALLY_BPF_UNWIND_STEP_BPF_H

#include "bpf/scratch.bpf.h"
#include "bpf/unwind_cache.bpf.h"
#include "bpf/unwind_tables.bpf.h"
#include "bpf/window.bpf.h"

#define UNWIND_CONTEXT                                                                             \
	, __u32 number __attribute__((unused)), struct scratch *slot __attribute__((unused))
#define UNWIND_PASS , number, slot
#define UNWIND_READ(to, size, address)                                                             \
	((size) <= WINDOW_MOST ? window_read(slot, number, to, size, address)                      \
			       : bpf_probe_read_user(to, size, (const void *)(address)))
#define UNWIND_CODE(to, size, address)		       bpf_probe_read_user(to, size, (const void *)(address))
#define UNWIND_BLOCK(block)			       look_up_block(block)
#define UNWIND_RULE(number)			       look_up_rule(number)
#define UNWIND_PROCESS(tgid)			       look_up_process(tgid)
#define UNWIND_ADDRESS_BITS			       config.address_bits
#define UNWIND_CACHED_RULE(walk, address)	       cached_rule(slot, address)
#define UNWIND_FIND_MAPPING(walk, address)	       find_mapping(number, address)
#define UNWIND_FIND_ROW(root, owner, address, ret_row) find_row_apart(root, owner, address, ret_row)
#define UNWIND_INLINE				       static __always_inline
/* Through memory, which the verifier does not follow: else it would go on once for each value. */
#define UNWIND_FORGET(walk, value)                                                                 \
	(*(volatile __u32 *)&(walk)->forgotten = (value), *(volatile __u32 *)&(walk)->forgotten)
#include "bpf/unwind_find.h"

/* Bits 0-7: enum wire_end; 8-15 and 16-31: bytes before and after; 32-63: the rule's number. */
__noinline __u64 find_row(__u32 root, __u32 owner, __u32 address)
{
	struct unwind_found_row row;
	__u64 end = unwind_find_row(root, owner, address, &row, 0, NULL);

	return (__u64)row.rule << 32 | row.after << 16 | row.before << 8 | end;
}

static __always_inline __u32 find_row_apart(__u32 root, __u32 owner, __u32 address,
					    struct unwind_found_row *ret_row)
{
	__u64 found = find_row(root, owner, address);

	ret_row->rule = found >> 32;
	ret_row->before = found >> 8 & 0xff;
	ret_row->after = found >> 16 & 0xff;
	return found & 0xff;
}

/* As unwind_find_mapping(), for the slot's walk. */
__noinline int find_mapping(__u32 number, __u64 address)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	__u32 end;

	if (!slot)
		return WIRE_END_STALE;
	if (take_cached_mapping(slot, address))
		return WIRE_END_NONE;
	end = unwind_find_mapping(&slot->walk, address, number, slot);
	/* A mapping without a table may get one while the layout stays the same. */
	if (!end && WIRE_MAPPING_KIND(slot->walk.root) == WIRE_MAPPING_TABLE)
		cache_mapping(slot);
	return (int)end;
}

__noinline int is_luajit_frame(__u64 at);

#define UNWIND_IS_LUAJIT_FRAME(at) is_luajit_frame(at)
#include "bpf/unwind_luajit.h"

/* Global functions, which the verifier checks once. */
__noinline int is_luajit_frame(__u64 at)
{
	return unwind_is_luajit_frame(at, 0, NULL);
}

__noinline __u64 luajit_frame(__u64 sp)
{
	return unwind_luajit_frame(sp, 0, NULL);
}

#include "bpf/unwind_generated.h"

/* As unwind_generated(), for the slot's walk. */
__noinline int step_generated(__u32 number, __u32 known)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);
	__u64 address;

	if (!slot)
		return WIRE_END_STALE;
	address = slot->walk.pc - (slot->walk.exact ? 0 : 1);
	return (int)unwind_generated(&slot->walk, cached_rule(slot, address), known, number, slot);
}

#include "bpf/unwind_signal.h"

/*
 * As unwind_signal(), for the slot's walk. Its copy of the registers is on the stack, of which all
 * functions that call each other have 512 bytes.
 */
__noinline int step_signal(__u32 number)
{
	struct scratch *slot = seldom_slot(number);

	return slot ? (int)unwind_signal(&slot->walk, number, slot) : WIRE_END_STALE;
}

/* In generated code it is no call: at most 8 functions call each other. */
#undef UNWIND_LUAJIT_FRAME
#define UNWIND_LUAJIT_FRAME(sp)			   luajit_frame(sp)
#define UNWIND_SIGNAL_STEP(walk)		   step_signal(number)
#define UNWIND_GENERATED_STEP(walk, cached, known) step_generated(number, known)
#include "bpf/unwind_step.h"

/* As unwind_step(), for the slot's walk. */
__noinline int step_once(__u32 number)
{
	struct scratch *slot = bpf_map_lookup_elem(&scratch, &number);

	return slot ? (int)unwind_step(&slot->walk, number, slot) : WIRE_END_STALE;
}

#define UNWIND_PEEK(to, address) window_peek(slot, to, address)
#include "bpf/unwind_usual.h"

/*
 * Takes the step that most frames take, if it is one, from `usual` on, where the slot's walk is.
 * `zero` is 0, but the verifier knows it as 0 or 1.
 */
static __always_inline bool step_usual(struct scratch *slot, struct unwind_usual *usual,
				       __u64 address, __u64 zero, __u32 number)
{
	const struct unwind_cached_rule *cached;
	__u64 at = rule_index(slot, address);

	if (!unwind_in_span(slot->rules[at].span, address)) {
		at++;
		if (!unwind_in_span(slot->rules[at].span, address))
			return false;
	}
	/* Either place: so the verifier follows one path from here. */
	at ^= zero;
	OPAQUE(at); /* up to 6.1 at least, the bounds of a `zero` that was spilled are lost */
	cached = &slot->rules[at % CACHED_RULES];
	/* One address that all fields are near to: they are more than 32 KiB from the slot's. */
	OPAQUE(cached);
	return unwind_usual(&slot->walk, usual, cached, number, slot);
}

/* What is passed as `zero`. */
static __always_inline __u64 unknown_zero(struct scratch *slot)
{
	return UNWIND_FORGET(&slot->walk, 0) & 1;
}

/* Takes the slot's walk one step on, if that is a usual one. */
static __always_inline bool step_if_usual(struct scratch *slot, __u32 number)
{
	struct unwind_usual usual = unwind_usual_begin(&slot->walk);
	__u64 address = usual.pc - (1 - slot->walk.exact);

	if (!slot->walk.layout || !step_usual(slot, &usual, address, unknown_zero(slot), number))
		return false;
	unwind_usual_end(&slot->walk, &usual);
	return true;
}

/* Prepares the slot's walk, which has its registers, for the first step. */
static __always_inline void walk_begin(struct scratch *slot, __u32 tgid)
{
	struct unwind_walk *walk = &slot->walk;

	walk->layout = layout_of(slot, tgid);
	walk->known = UNWIND_ALL_KNOWN;
	walk->rbx_at = 0;
	walk->start = 0;
	walk->end = 0;
	walk->callee_owner = 0;
	walk->tgid = tgid;
	walk->may_chain = config.unwind == WIRE_UNWIND_AUTO;
	walk->by_chain = 0;
	walk->assumed = 0;
	walk->last_rule = 0;
}

#endif
