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

/* The key of a block of the current task. Tasks that share memory share blocks. */
static __always_inline void block_key(__u64 address, enum wire_block_kind kind,
				      struct wire_block_key *ret_key)
{
	const struct task_struct *task = current_task();
	/* Read with a helper, it is a number, with which the verifier allows arithmetic. */
	__u64 space = (__u64)BPF_CORE_READ(task, mm);

	space = (space ^ config.seed[0]) * 0x9fb21c651e98df25ull;
	ret_key->space = (space >> 16 & ~(__u64)(WIRE_BLOCK_KINDS - 1)) | kind;
	ret_key->address = address;
}

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
	block_key(mapping_end(address, block->size), WIRE_BLOCK_END, &key);
	return (int)bpf_map_update_elem(&blocks, &key, &begins, BPF_ANY);
}

static __noinline int forget_end(__u64 address, __u64 size)
{
	struct wire_block_key key;

	block_key(mapping_end(address, size), WIRE_BLOCK_END, &key);
	return (int)bpf_map_delete_elem(&blocks, &key);
}

static __always_inline void enter_block(__u64 address, bool mapping, const struct wire_block *block)
{
	struct wire_block_key key;

	block_key(address, mapping ? WIRE_BLOCK_MAPPING : WIRE_BLOCK, &key);
	if (!block->stack.low || bpf_map_update_elem(&blocks, &key, block, BPF_ANY))
		lose_block(block->size);
	else if (mapping)
		enter_end(address, block);
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

static __always_inline void count_unallocated(void)
{
	struct wire_block_counters *counter = block_counter();

	if (counter)
		__sync_fetch_and_add(&counter->unallocated, 1);
}

/* The allocation that the current thread is in, if a function at `sp` is a part of it; NULL. */
static __always_inline struct wire_allocation *outer_allocation(__u64 sp, __u64 tid)
{
	struct wire_allocation *outer = bpf_map_lookup_elem(&allocations, &tid);

	if (!outer || !outer->sp || sp > outer->sp)
		return NULL;
	return sp < outer->sp || is_jumped_to(current_task(), sp, tid) ? outer : NULL;
}

/*
 * An allocation begins. A block that it moves is out of the map from here on: its memory may be
 * another thread's before the function returns.
 */
static __noinline int allocation_begins(const struct wire_allocation *asked)
{
	struct wire_allocation begins = *asked;
	__u64 tid = (__u32)bpf_get_current_pid_tgid();
	const struct task_struct *task = current_task();
	__u32 tgid, thread;

	current_ids(task, &tgid, &thread);
	if (outer_allocation(begins.sp, tid) || !wanted(task, tgid, thread))
		return 0;
	begins.was.stack.low = 0;
	if (begins.moved && !take_block(begins.moved, begins.mapping, &begins.was))
		count_unallocated();
	bpf_map_update_elem(&allocations, &tid, &begins, BPF_ANY);
	return 0;
}

static __always_inline int on_allocate(__u64 sp, __u64 size, __u64 out, __u64 moved, bool mapping)
{
	const struct wire_allocation asked = {
		.sp = sp, .size = size, .out = out, .moved = moved, .mapping = mapping
	};

	return armed ? allocation_begins(&asked) : 0;
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
		enter_block(address, allocation->mapping, &block);
	} else if (allocation->size && allocation->was.stack.low) {
		/* It was not moved. */
		enter_block(allocation->moved, allocation->mapping, &allocation->was);
	}
	allocation->sp = 0;
	return 0;
}

/* A block is freed. What functions that allocate free is their own. */
static __noinline int block_freed(__u64 sp, __u64 address)
{
	const struct task_struct *task = current_task();
	__u64 tid = (__u32)bpf_get_current_pid_tgid();
	__u32 tgid, thread;

	if (!address || outer_allocation(sp, tid) || take_block(address, false, NULL))
		return 0;
	current_ids(task, &tgid, &thread);
	if (tgid != config.self && wanted(task, tgid, thread))
		count_unallocated();
	return 0;
}

/* The mapping that ends at `end` keeps what is before `address`. */
static __noinline int unmap_last(__u64 address, __u64 end)
{
	struct wire_block_key key;
	const struct wire_block *begins;
	struct wire_block block;
	__u64 from;

	block_key(end, WIRE_BLOCK_END, &key);
	begins = bpf_map_lookup_elem(&blocks, &key);
	if (!begins || begins->size >= address)
		return 0;
	from = begins->size;
	if (!take_block(from, true, &block))
		return 0;
	block.size = address - from;
	enter_block(from, true, &block);
	return 0;
}

/*
 * Pages are unmapped: a whole mapping, or its first or last ones, as allocators do to align what
 * they map. Mappings that were not seen to be made are mostly the allocator's.
 */
static __noinline int block_unmapped(__u64 sp, __u64 address, __u64 size)
{
	__u64 tid = (__u32)bpf_get_current_pid_tgid(), end = mapping_end(address, size), last;
	struct wire_block block;

	if (!address || outer_allocation(sp, tid))
		return 0;
	if (!take_block(address, true, &block))
		return unmap_last(address, end);
	last = mapping_end(address, block.size);
	if (end < last) {
		block.size = last - end;
		enter_block(end, true, &block);
	}
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

/* A thread ends, or its program is replaced by another one, maybe in an allocation. */
static __always_inline void allocation_gone(__u64 tid)
{
	bpf_map_delete_elem(&allocations, &tid);
}

#endif
