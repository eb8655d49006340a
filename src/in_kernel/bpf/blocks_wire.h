/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Memory that is allocated and not freed, as it crosses between the kernel side and user space.
 */
#ifndef STACKTALLY_BPF_BLOCKS_WIRE_H
#define STACKTALLY_BPF_BLOCKS_WIRE_H

#include <linux/types.h>

#include "bpf/wire.h"

/* What an entry of the map is, in the lower bits of `space`. */
enum wire_block_kind {
	WIRE_BLOCK,
	WIRE_BLOCK_MAPPING,
	WIRE_BLOCK_END, /* where a mapping ends; its value's `size` is where that begins */
	WIRE_BLOCK_KINDS = 4,
};

struct wire_block_key {
	__u64 address;
	__u64 space; /* a number of the address space, and in its lower bits a kind */
};

struct wire_block {
	struct wire_hash stack; /* that allocated it */
	__u64 size;
	__u64 since; /* CLOCK_MONOTONIC, ns */
	__u32 tgid;  /* in our pid namespace */
	__u32 reserved;
};

/* The allocation that a thread is in. The key is its number; only the thread itself writes to it.
 */
struct wire_allocation {
	__u64 sp;      /* at entry; 0: none */
	__u64 size;    /* that was asked for */
	__u64 out;     /* where in memory the address will be; 0: it is what the function returns */
	__u64 moved;   /* the block that is moved; 0: none */
	__u64 pages;   /* bytes of it that are moved; of mappings */
	__u32 mapping; /* 1: a mapping is made */
	__u32 fixed;   /* 1: at a place that is given, whatever was there before */
	struct wire_block was; /* that block; a stack of 0: it is not known */
	__u64 freed;	       /* the block that the thread has freed last, since */
};

/* Per CPU; user space adds them up. */
struct wire_block_counters {
	__u64 unallocated; /* blocks freed that were not seen to be allocated */
	__u64 lost_blocks; /* blocks for which the map had no room, or whose stack was lost */
	__u64 lost_bytes;  /* of these */
	__u64 replaced;	   /* blocks whose address was allocated again before it was freed */
	__u64 unmapped; /* times that pages were unmapped which no known mapping begins or ends with
			 */
};

_Static_assert(sizeof(struct wire_block) == 40, "no padding");
_Static_assert(sizeof(struct wire_allocation) == 96, "no padding");

#endif
