/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Memory that is allocated and not freed. At the entry of a function that allocates, two programs
 * run, in any order: one walks the stack as for a call that is timed (bpf/calls.bpf.h), one takes
 * the arguments. Both know by the stack pointer what is a part of another call. At the return the
 * block is entered into a map, from which it is deleted when it is freed; so the map has what is
 * outstanding. User space adds it up by stack.
 */
#ifndef STACKTALLY_BPF_BLOCKS_BPF_H
#define STACKTALLY_BPF_BLOCKS_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_tracing.h>

#include "bpf/blocks_wire.h"
#include "bpf/calls.bpf.h"

#define MOST_ERRNO 4095 /* a pointer above -MOST_ERRNO is none */
/* The smallest page: sizes that differ by less than a page are the same mapping's. */
#define PAGE_BYTES 4096u

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, struct wire_block_key);
	__type(value, struct wire_block);
} blocks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u64);
	__type(value, struct wire_allocation);
} allocations SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_block_counters);
} block_counters SEC(".maps");

static __always_inline struct wire_block_counters *block_counter(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&block_counters, &zero);
}

/*
 * A number of the current task's address space. Where the kernel gives them none that is unique, it
 * is where the kernel describes them, which may be that of one which has gone.
 */
static __always_inline __u64 address_space(void)
{
	const struct task_struct *task = current_task();
	const struct mm_struct *mm = BPF_CORE_READ(task, mm);

	if (bpf_core_field_exists(mm->context.ctx_id))
		return BPF_CORE_READ(mm, context.ctx_id);
	return (__u64)mm;
}

/* The key of a block of the current task. Tasks that share memory share blocks. */
static __always_inline void block_key(__u64 address, enum wire_block_kind kind,
				      struct wire_block_key *ret_key)
{
	ret_key->space = address_space() * WIRE_BLOCK_KINDS | kind;
	ret_key->address = address;
}

#define COUNT_BLOCK(what)                                                                          \
	do {                                                                                       \
		struct wire_block_counters *block_count = block_counter();                         \
                                                                                                   \
		if (block_count)                                                                   \
			__sync_fetch_and_add(&block_count->what, 1);                               \
	} while (0)

static __always_inline void lose_block(__u64 size)
{
	struct wire_block_counters *counter = block_counter();

	if (!counter)
		return;
	__sync_fetch_and_add(&counter->lost_blocks, 1);
	__sync_fetch_and_add(&counter->lost_bytes, size);
}

/* The end of a mapping of so many bytes: they are whole pages. */
static __always_inline __u64 mapping_end(__u64 address, __u64 size)
{
	return (address + size + PAGE_BYTES - 1) & ~(__u64)(PAGE_BYTES - 1);
}

/* Remembers where a mapping ends, so that its last pages are found when they are unmapped. */
static __noinline int enter_end(__u64 address, const struct wire_block *block)
{
	struct wire_block begins = { 0 };
	struct wire_block_key key;

	begins.size = address;
	begins.tgid = block->tgid;
	begins.since = block->since;
	block_key(mapping_end(address, block->size), WIRE_BLOCK_END, &key);
	return (int)bpf_map_update_elem(&blocks, &key, &begins, BPF_ANY);
}

static __noinline int forget_end(__u64 address, __u64 size)
{
	struct wire_block_key key;

	block_key(mapping_end(address, size), WIRE_BLOCK_END, &key);
	return (int)bpf_map_delete_elem(&blocks, &key);
}

/* Enters a block. One that is there already was freed, though that was not seen. */
static __noinline int enter_block(__u64 address, bool mapping, const struct wire_block *block)
{
	struct wire_block_key key;

	block_key(address, mapping ? WIRE_BLOCK_MAPPING : WIRE_BLOCK, &key);
	if (!block->stack.low) {
		if (bpf_map_delete_elem(&blocks, &key) == 0)
			COUNT_BLOCK(replaced);
		lose_block(block->size);
		return 0;
	}
	if (bpf_map_update_elem(&blocks, &key, block, BPF_NOEXIST)) {
		if (bpf_map_update_elem(&blocks, &key, block, BPF_EXIST)) {
			lose_block(block->size);
			return 0;
		}
		COUNT_BLOCK(replaced);
	}
	if (mapping && enter_end(address, block)) {
		bpf_map_delete_elem(&blocks, &key);
		lose_block(block->size);
	}
	return 0;
}

/* Takes a block out of the map. False: it is not there. */
static __always_inline bool take_block(__u64 address, bool mapping, struct wire_block *ret_block)
{
	struct wire_block_key key;
	const struct wire_block *block;

	block_key(address, mapping ? WIRE_BLOCK_MAPPING : WIRE_BLOCK, &key);
	block = bpf_map_lookup_elem(&blocks, &key);
	if (!block)
		return false;
	if (ret_block)
		*ret_block = *block;
	if (mapping)
		forget_end(address, block->size);
	return bpf_map_delete_elem(&blocks, &key) == 0;
}

/* ---- pages of mappings ---- */

/* The mapping that ends at `end` keeps what is before `address`. False: none is known. */
static __noinline int unmap_last(__u64 address, __u64 end)
{
	struct wire_block_key key;
	const struct wire_block *begins;
	struct wire_block block;
	__u64 from;

	block_key(end, WIRE_BLOCK_END, &key);
	begins = bpf_map_lookup_elem(&blocks, &key);
	if (!begins || begins->size >= address)
		return false;
	from = begins->size;
	if (!take_block(from, true, &block))
		return false;
	block.size = address - from;
	enter_block(from, true, &block);
	return true;
}

/*
 * Pages are unmapped: a whole mapping, or its first or last ones, as allocators do to align what
 * they map. False: they are others, or more, than is known.
 */
static __noinline int unmap_pages(__u64 address, __u64 size)
{
	__u64 end = mapping_end(address, size), last;
	struct wire_block block;

	if (!take_block(address, true, &block))
		return unmap_last(address, end);
	last = mapping_end(address, block.size);
	if (end < last) {
		block.size = last - end;
		enter_block(end, true, &block);
	}
	return end <= last;
}

/* Whether there can be no such pages: the kernel refuses them. */
static __always_inline bool are_no_pages(__u64 address, __u64 size)
{
	__u64 most = BPF_CORE_READ(current_task(), mm, task_size);

	return address % PAGE_BYTES || !size || size > most || address > most - size;
}

/* ---- allocations ---- */

/* Whether a function at `sp` is a part of the allocation that the thread is in. */
static __always_inline bool is_part_of(const struct wire_allocation *outer, __u64 sp, __u64 tid)
{
	return outer->sp && sp <= outer->sp && is_under_way(current_task(), outer->sp, tid);
}

/* A block that was not moved, by a call that failed or was left by a jump, is where it was. */
static __always_inline void give_back(const struct wire_allocation *allocation)
{
	if (allocation->size && allocation->was.stack.low)
		enter_block(allocation->moved, allocation->mapping, &allocation->was);
}

/*
 * An allocation begins. A block that it moves is out of the map from here on: its memory may be
 * another thread's before the function returns.
 */
static __noinline int allocation_begins(const struct wire_allocation *asked)
{
	struct wire_allocation begins = *asked, *left;
	__u64 tid = (__u32)bpf_get_current_pid_tgid();
	const struct task_struct *task = current_task();
	__u32 tgid, thread;

	left = bpf_map_lookup_elem(&allocations, &tid);
	if (left && is_part_of(left, begins.sp, tid))
		return 0;
	if (left && left->sp) {
		give_back(left);
		left->sp = 0;
	}
	current_ids(task, &tgid, &thread);
	if (!wanted(task, tgid, thread))
		return 0;
	begins.was.stack.low = 0;
	if (begins.moved && !take_block(begins.moved, begins.mapping, &begins.was))
		COUNT_BLOCK(unallocated);
	if (bpf_map_update_elem(&allocations, &tid, &begins, BPF_ANY)) {
		lose_block(begins.size);
		give_back(&begins);
	}
	return 0;
}

static __always_inline int on_allocate(const struct wire_allocation *asked)
{
	return armed ? allocation_begins(asked) : 0;
}

/* a * b; a product that is too large for a number is the largest one, of which there is no block.
 */
static __always_inline __u64 product_of(__u64 a, __u64 b)
{
	__u64 most = b ? ~0ull / b : ~0ull;

	OPAQUE(most); /* or the compiler asks for a product of 128 bits, which BPF has not */
	return a > most ? ~0ull : a * b;
}

/* The address of the new block; 0: there is none. */
static __always_inline __u64 new_block(const struct wire_allocation *of, __u64 returned)
{
	__u64 address = 0;

	if (!of->out)
		return returned > (__u64)-MOST_ERRNO ? 0 : returned;
	if ((__u32)returned == 0)
		bpf_probe_read_user(&address, sizeof(address), (void *)of->out);
	return address;
}

/* The stack that made the allocation, whose call ends; 0: it was lost. */
static __always_inline void end_call_of(const struct wire_allocation *allocation, __u64 tid,
					struct wire_hash *ret_stack)
{
	struct wire_call *call = bpf_map_lookup_elem(&calls, &tid);

	if (!call)
		return;
	if (call->began && call->sp == allocation->sp)
		*ret_stack = call->stack;
	call->began = 0;
}

/* A mapping was made at `address`, maybe over others, and maybe of a part of another one. */
static __noinline int mapping_made(const struct wire_allocation *allocation, __u64 address,
				   const struct wire_block *block)
{
	__u64 from, last;
	struct wire_block rest;

	if (!unmap_pages(address, block->size) && allocation->fixed)
		COUNT_BLOCK(unmapped);
	enter_block(address, true, block);
	rest = allocation->was;
	from = mapping_end(allocation->moved, allocation->pages);
	last = mapping_end(allocation->moved, rest.size);
	if (rest.stack.low && from < last) {
		rest.size = last - from;
		enter_block(from, true, &rest);
	}
	return 0;
}

/* A function that allocates has returned, or was left by a jump. */
static __noinline int allocation_returned(__u64 sp, __u64 returned)
{
	__u64 tid = (__u32)bpf_get_current_pid_tgid(), address;
	struct wire_allocation *allocation = bpf_map_lookup_elem(&allocations, &tid);
	struct wire_block block = { 0 };
	__u32 thread;

	if (!allocation || !allocation->sp || sp <= allocation->sp)
		return 0;
	end_call_of(allocation, tid, &block.stack);
	address = sp - allocation->sp <= RETURN_MOST ? new_block(allocation, returned) : 0;
	if (address) {
		block.size = allocation->size;
		block.since = bpf_ktime_get_ns();
		current_ids(current_task(), &block.tgid, &thread);
		if (allocation->mapping)
			mapping_made(allocation, address, &block);
		else
			enter_block(address, false, &block);
	} else {
		give_back(allocation);
	}
	allocation->sp = 0;
	return 0;
}

/* ---- frees ---- */

static __noinline int is_others(void)
{
	const struct task_struct *task = current_task();
	__u32 tgid, thread;

	current_ids(task, &tgid, &thread);
	return tgid == config.self || !wanted(task, tgid, thread);
}

/* A block is freed. What functions that allocate free is their own. */
static __noinline int block_freed(__u64 sp, __u64 address)
{
	__u64 tid = (__u32)bpf_get_current_pid_tgid();
	struct wire_allocation *last = bpf_map_lookup_elem(&allocations, &tid);

	if (!address || (last && is_part_of(last, sp, tid)))
		return 0;
	if (last)
		last->freed = address;
	if (take_block(address, false, NULL))
		return 0;
	if (!is_others())
		COUNT_BLOCK(unallocated);
	return 0;
}

/* Pages are unmapped, maybe those of a large block that is being freed. */
static __noinline int block_unmapped(__u64 sp, __u64 address, __u64 size)
{
	__u64 tid = (__u32)bpf_get_current_pid_tgid();
	const struct wire_allocation *last = bpf_map_lookup_elem(&allocations, &tid);

	if (are_no_pages(address, size) || (last && is_part_of(last, sp, tid)))
		return 0;
	if (unmap_pages(address, size) ||
	    (last && last->freed / PAGE_BYTES == address / PAGE_BYTES))
		return 0;
	if (!is_others())
		COUNT_BLOCK(unmapped);
	return 0;
}

static __always_inline int on_allocation_return(const struct pt_regs *ctx)
{
	return armed ? allocation_returned(PT_REGS_SP(ctx), PT_REGS_RC(ctx)) : 0;
}

static __always_inline int on_block_freed(const struct pt_regs *ctx)
{
	return armed ? block_freed(PT_REGS_SP(ctx), PT_REGS_PARM1(ctx)) : 0;
}

static __always_inline int on_block_unmapped(const struct pt_regs *ctx)
{
	return armed ? block_unmapped(PT_REGS_SP(ctx), PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx)) : 0;
}

/*
 * A thread ends, or its program is replaced by another one. If it was in realloc(), whether that
 * has moved the block is not known.
 */
static __always_inline void allocation_gone(__u64 tid)
{
	const struct wire_allocation *allocation = bpf_map_lookup_elem(&allocations, &tid);

	if (!allocation)
		return;
	if (armed && allocation->sp && allocation->size && allocation->was.stack.low)
		lose_block(allocation->was.size);
	bpf_map_delete_elem(&allocations, &tid);
}

#endif
