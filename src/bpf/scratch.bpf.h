/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Where a stack is put together: too large for the BPF stack, so a few slots for each CPU. And the
 * configuration, which says how many.
 */
#ifndef STACKTALLY_BPF_SCRATCH_BPF_H
#define STACKTALLY_BPF_SCRATCH_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_helpers.h>

#include "bpf/unwind_walk.h"
#include "bpf/wire.h"

const volatile struct wire_config config = { .user_depth = 127, .kernel_depth = 127, .slots = 1 };

#define config_has(flag) (config.flags & (flag))

/* Whether user stacks are walked by unwinding tables. */
static __always_inline bool by_tables(void)
{
	return config_has(WIRE_USER) &&
	       (config.unwind == WIRE_UNWIND_CFI || config.unwind == WIRE_UNWIND_AUTO);
}

/*
 * The rules found last, by block of code: the same few callers are on most stacks of a program. In
 * cold caches, where a sample finds itself, this is one line where a search is fifteen.
 */
#define SCRATCH_KEPT_RULES 1024

/*
 * Mappings with a table that were found last: some lines side by side, where the search for one
 * takes ten in four pages.
 */
#define SCRATCH_KEPT_MAPPINGS 8

/* Holds for as long as the process has that layout, as a rule that was found does. */
struct kept_mapping {
	__u64 start, end, bias;
	__u32 root, owner;
	__u32 layout; /* 0: nothing was kept here yet */
	__u32 reserved;
};

/* The layouts of processes that were found last, by process id: one line. */
#define SCRATCH_KEPT_LAYOUTS 4

struct kept_layout {
	__u32 tgid, layout;
	__u64 changes; /* holds while there were no more of the processes' table */
};

/* Rules of the kernel's code that were found last, by address. */
#define KEPT_ORC_BITS 9

enum kept_orc_kind {
	KEPT_ORC_ASK, /* the kernel: it is none of these */
	KEPT_ORC_END,
	KEPT_ORC_CALL,	    /* the address to return to is below `sp` */
	KEPT_ORC_REGISTERS, /* all registers are at `sp` */
	KEPT_ORC_INTERRUPT, /* those that the processor saved are */
};

struct kept_orc {
	__u64 address;
	__s16 sp_offset, bp_offset;
	__u8 from;   /* enum orc_register: of `sp`, and of `bp` in the upper half */
	__u8 kind;   /* enum kept_orc_kind */
	__u8 exact;  /* what is walked to was interrupted, not left by a call */
	__u8 module; /* by its number, counted from 1; 0: the core kernel */
};

/* The walk of a kernel stack: as of the frame found last. */
struct kernel_walk {
	__u64 ip, sp, bp;
	__u32 n; /* frames */
	__u32 exact;
};

#define WINDOW_SIZE 1024

/* What was copied of the user stack that is walked (bpf/window.bpf.h). */
struct window {
	__u64 from; /* user address */
	__u64 size; /* bytes that are there; 0: none */
	__u8 bytes[WINDOW_SIZE];
};

#define SCRATCH_WORDS 10752

/* What every stack needs lies side by side: at usual rates none of it is in a cache or a TLB. */
struct scratch {
	struct unwind_found found[SCRATCH_KEPT_RULES];
	struct kept_layout layouts[SCRATCH_KEPT_LAYOUTS];
	struct window window;
	__u64 busy;
	__u64 rest_left;  /* so many stacks may be copied for user space, ... */
	__u64 rest_since; /* ... as of then: CLOCK_MONOTONIC, ns */
	struct kept_mapping mappings[SCRATCH_KEPT_MAPPINGS];
	__u64 next_mapping, next_rule; /* where the next one goes: count on */
	/* Where in frames[] the user stack before this one lay, and its process's layout. */
	__u32 last_first, last_n, last_layout;
	__u32 padding[3];
	struct unwind_walk walk;
	struct pt_regs registers;
	struct kernel_walk kernel;
	struct wire_stack stack;
	__u64 frames[SCRATCH_WORDS]; /* both stacks, or one and what a walk goes on with */
	struct kept_orc kernel_rules[1 << KEPT_ORC_BITS];
};

_Static_assert(SCRATCH_WORDS >= 2 * WIRE_MAX_DEPTH, "two stacks have room");
_Static_assert(sizeof(struct scratch) % 64 == 0, "no kept rule is in two lines of a cache");

/*
 * `config.slots` for each CPU, one CPU's after the other's. Not a map that each CPU has its own of:
 * its values are limited to 32 KiB, and found with a call where this one's are with arithmetic
 * (before Linux 6.10). What can be mapped begins with a page, and so with a line.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by user space */
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct scratch);
} scratch SEC(".maps");

/*
 * A free slot of this CPU. Captures on one CPU may be interrupted by others, and those
 * of user probes be preempted. Adding first and then looking whether one is alone gives no slot
 * to two captures, even where the kernel has no atomic that returns a value (before 5.12).
 */
static __always_inline struct scratch *scratch_take(__u32 *ret_number)
{
	__u32 first = bpf_get_smp_processor_id() * config.slots;

	for (__u32 i = 0; i < WIRE_MAX_SLOTS; i++) {
		__u32 key = first + i;
		struct scratch *slot;

		if (i >= config.slots)
			break;
		slot = bpf_map_lookup_elem(&scratch, &key);
		if (!slot)
			break;
		__sync_fetch_and_add(&slot->busy, 1);
		if (*(volatile __u64 *)&slot->busy == 1) {
			*ret_number = key;
			return slot;
		}
		__sync_fetch_and_add(&slot->busy, (__u64)-1);
	}
	return NULL;
}

static __always_inline void scratch_release(struct scratch *slot)
{
	__sync_fetch_and_add(&slot->busy, (__u64)-1);
}

#endif
