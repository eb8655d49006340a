/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The two searches of a step: an address's mapping among those of its process, and its row in the
 * table of its file. Shared like bpf/unwind_step.h, whose header describes the macros.
 */
#ifndef STACKTALLY_BPF_UNWIND_FIND_H
#define STACKTALLY_BPF_UNWIND_FIND_H

#include "bpf/hints.h"
#include "bpf/unwind_walk.h"
#include "bpf/unwind_wire.h"

/* The value; in BPF, one whose range the verifier no longer knows. */
#ifndef UNWIND_FORGET
#define UNWIND_FORGET(walk, value) (value)
#endif

#ifndef UNWIND_INLINE
#define UNWIND_INLINE static inline __attribute__((always_inline))
#endif

/*
 * A binary search: sets `low` to the last of `n` elements whose key is not above `wanted`, or to 0
 * if there is none. `key` is an expression for the key of the element `middle`. `room`, a power of
 * two, is above all values of `middle`, and sets the number of steps; those after the last that is
 * needed change nothing. Numbers have 64 bits: of a 32-bit one, the compiler may check a truncated
 * copy, and the verifier does not see that both are the same.
 */
#define UNWIND_SEARCH(low, n, capacity, key, wanted)                                               \
	do {                                                                                       \
		__u64 high = (n), middle;                                                          \
                                                                                                   \
		(low) = 0;                                                                         \
		for (__u64 half = 1; half < (capacity); half *= 2) {                               \
			OPAQUE(half);                                                              \
			middle = ((low) + high) / 2 & ((capacity)-1);                              \
			BISECT(low, high, middle, key, wanted);                                    \
		}                                                                                  \
	} while (0)

/*
 * Puts the mapping of an address of the process into the walk. WIRE_END_NONE, _NO_PROCESS,
 * _NO_MAPPING or _STALE.
 */
UNWIND_INLINE __u32 unwind_find_mapping(struct unwind_walk *walk, __u64 address UNWIND_CONTEXT)
{
	const struct wire_process *process = UNWIND_PROCESS(walk->tgid);
	const struct wire_mappings *block;
	const struct wire_chunk_head *head;
	const struct wire_mapping *mapping;
	__u32 chunk = 0, at, head_at;
	__u64 found, n;

	if (!process)
		return WIRE_END_NO_PROCESS;
	/* The walk so far used mappings that have been replaced. */
	if (walk->layout && walk->layout != process->owner)
		return WIRE_END_STALE;
	walk->layout = process->owner;
	if (process->n_chunks == 0)
		return WIRE_END_NO_MAPPING;
	for (__u32 i = 1; i < WIRE_MAX_CHUNKS; i++) {
		if (i >= process->n_chunks || process->chunks[i].first > address)
			break;
		chunk = i;
	}
	chunk = UNWIND_FORGET(walk, chunk);
	if (chunk >= WIRE_MAX_CHUNKS)
		return WIRE_END_STALE;
	block = UNWIND_BLOCK(process->chunks[chunk].block);
	at = process->chunks[chunk].slot;
	n = process->chunks[chunk].n;
	/* A copy, checked where it is used: Linux 5.10 forgets the bounds of spilled registers. */
	head_at = at;
	OPAQUE(head_at);
	if (!block || n == 0 || head_at >= WIRE_CHUNK_SLOTS)
		return WIRE_END_STALE;
	head = (const struct wire_chunk_head *)&block->slots[head_at];
	if (head->owner != process->owner)
		return WIRE_END_STALE;
	at++;
	/* Halves, as [vsyscall] lies above 2^63. Mappings start at even addresses. */
	UNWIND_SEARCH(found, n, WIRE_CHUNK_SLOTS,
		      block->slots[(at + middle) & (WIRE_CHUNK_SLOTS - 1)].start / 2, address / 2);
	found += at;
	OPAQUE(found);
	if (found >= WIRE_CHUNK_SLOTS)
		return WIRE_END_STALE;
	mapping = &block->slots[found];
	if (address < mapping->start || address >= mapping->end)
		return WIRE_END_NO_MAPPING;
	walk->start = mapping->start;
	walk->end = mapping->end;
	walk->bias = mapping->bias;
	walk->root = mapping->root;
	walk->owner = mapping->owner;
	/* The slots may have been reused while they were read. */
	return *(volatile const __u32 *)&head->owner == process->owner ? WIRE_END_NONE
								       : WIRE_END_STALE;
}

/*
 * The row for an address of the file in the table at `root`; an address before all rows gets rule
 * 0, the gap. WIRE_END_NONE or WIRE_END_STALE.
 */
UNWIND_INLINE __u32 unwind_find_row(__u32 root, __u32 owner, __u32 address,
				    struct unwind_found_row *ret_row UNWIND_CONTEXT)
{
	const struct wire_inner *inner;
	const struct wire_leaf *leaf;
	__u64 low, first, n, relative, wanted = address, row;
	__u32 block = root;

	*ret_row = (struct unwind_found_row){ 0 };
	for (__u32 level = 1; level < WIRE_MAX_LEVELS; level++) {
		inner = UNWIND_BLOCK(block);
		if (!inner || inner->header.owner != owner)
			return WIRE_END_STALE;
		if (inner->header.level == 0)
			break;
		UNWIND_SEARCH(low, inner->header.n, WIRE_INNER_CAPACITY, inner->keys[middle],
			      wanted);
		OPAQUE(low);
		if (low >= WIRE_INNER_CHILDREN)
			return WIRE_END_STALE;
		block = inner->children[low];
		if (inner->keys[low] > address)
			block = WIRE_NO_BLOCK;
		if (*(volatile const __u32 *)&inner->header.owner != owner)
			return WIRE_END_STALE;
		if (block == WIRE_NO_BLOCK)
			return WIRE_END_NONE;
	}
	leaf = UNWIND_BLOCK(block);
	if (!leaf || leaf->header.owner != owner || leaf->header.level != 0)
		return WIRE_END_STALE;
	n = leaf->header.n;
	if (address < leaf->header.base || n == 0)
		return WIRE_END_NONE;
	/* Far beyond the last row: that row holds. */
	relative = smaller(wanted - leaf->header.base, 0xffff);
	UNWIND_SEARCH(first, (n + WIRE_LEAF_GROUP - 1) / WIRE_LEAF_GROUP, WIRE_LEAF_GROUP_CAPACITY,
		      leaf->groups[middle], relative);
	first *= WIRE_LEAF_GROUP;
	n = smaller(n - first, WIRE_LEAF_GROUP);
	OPAQUE(first);
	if (first > WIRE_LEAF_ROWS - WIRE_LEAF_GROUP)
		return WIRE_END_STALE;
	UNWIND_SEARCH(low, n, WIRE_LEAF_GROUP, WIRE_ROW_ADDRESS(leaf->rows[first + middle]),
		      relative);
	OPAQUE(low);
	if (low >= WIRE_LEAF_GROUP)
		return WIRE_END_STALE;
	row = leaf->rows[first + low];
	if (WIRE_ROW_ADDRESS(row) <= relative) {
		ret_row->rule = WIRE_ROW_RULE(row);
		ret_row->before = smaller(relative - WIRE_ROW_ADDRESS(row), UNWIND_CACHE_BLOCK - 1);
		/* The next leaf says where this one's last row ends; `after` stays 0 there. */
		low += first + 1;
		OPAQUE(low);
		if (low < WIRE_LEAF_ROWS && low < leaf->header.n)
			ret_row->after = smaller(WIRE_ROW_ADDRESS(leaf->rows[low]) - 1 - relative,
						 UNWIND_CACHE_BLOCK - 1);
	}
	return *(volatile const __u32 *)&leaf->header.owner == owner ? WIRE_END_NONE
								     : WIRE_END_STALE;
}

#endif
