/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The two searches of a step: the mapping of an address in the table of its process, and the row
 * of an address in the table of its file. Shared as bpf/unwind_step.h is, by the same macros.
 */
#ifndef STACKTALLY_BPF_UNWIND_FIND_H
#define STACKTALLY_BPF_UNWIND_FIND_H

#include "bpf/steer.h"
#include "bpf/unwind_walk.h"
#include "bpf/unwind_wire.h"

#define UNWIND_LEAF_STEPS  5 /* of a binary search among WIRE_LEAF_GROUPS, or of one's rows */
#define UNWIND_INNER_STEPS 9 /* among WIRE_INNER_CHILDREN */
#define UNWIND_CHUNK_STEPS 7 /* among WIRE_CHUNK_SLOTS */

#ifndef UNWIND_INLINE
#define UNWIND_INLINE static inline __attribute__((always_inline))
#endif

/*
 * Indices are 64 bits wide where they are checked and used: for 32 bits a compiler may check a
 * copy, cut to size, of what it uses, and the verifier does not see that they are the same. What
 * the searches go on with are 32: comparing them leaves the verifier nothing to tell states by.
 */

/*
 * A binary search: `low` becomes the last of [low, high) for which `is_upper` holds, or stays where
 * it holds for none. `at` is the element, `from` on, of an array that has `room` of them: bad
 * numbers end the walk as stale.
 */
#define UNWIND_SEARCH(low, high, steps, from, room, is_upper)                                      \
	for (__u32 i = 0; i < (steps); i++) {                                                      \
		__u32 middle = ((low) + (high)) / 2;                                               \
		__u64 at = (__u64)(from) + middle;                                                 \
                                                                                                   \
		UNWIND_OPAQUE(low);                                                                \
		UNWIND_OPAQUE(high);                                                               \
		UNWIND_OPAQUE(at);                                                                 \
		if ((low) + 1 >= (high))                                                           \
			break;                                                                     \
		if (at >= (room))                                                                  \
			return WIRE_END_STALE;                                                     \
		UNWIND_NARROW(low, high, middle, is_upper);                                        \
	}

/* The mapping of an address, into the walk. WIRE_END_NONE when it is found. */
UNWIND_INLINE __u32 unwind_find_mapping(struct unwind_walk *walk, __u64 address UNWIND_CONTEXT)
{
	const struct wire_process *process = UNWIND_PROCESS(walk->tgid);
	const struct wire_mappings *block;
	const struct wire_chunk_head *head;
	const struct wire_mapping *mapping;
	__u32 chunk = 0, low = 0, high, slot, head_slot;
	__u64 found;

	if (!process)
		return WIRE_END_NO_PROCESS;
	/* The frames so far were walked by other mappings. */
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
	UNWIND_OPAQUE(chunk);
	if (chunk >= WIRE_MAX_CHUNKS)
		return WIRE_END_STALE;
	block = UNWIND_BLOCK(process->chunks[chunk].block);
	slot = process->chunks[chunk].slot;
	high = process->chunks[chunk].n;
	/* A copy that is checked where it is used: Linux 5.10 forgets bounds of what is spilled. */
	head_slot = slot;
	UNWIND_OPAQUE(head_slot);
	if (!block || high == 0 || head_slot >= WIRE_CHUNK_SLOTS)
		return WIRE_END_STALE;
	head = (const struct wire_chunk_head *)&block->slots[head_slot];
	if (head->owner != process->owner)
		return WIRE_END_STALE;
	slot++;
	UNWIND_SEARCH(low, high, UNWIND_CHUNK_STEPS, slot, WIRE_CHUNK_SLOTS,
		      block->slots[at].start <= address);
	found = (__u64)slot + low;
	UNWIND_OPAQUE(found);
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
	/* It may have been given away while it was read. */
	return *(volatile const __u32 *)&head->owner == process->owner ? WIRE_END_NONE
								       : WIRE_END_STALE;
}

/* The number of the rule for an address of the file; 0, the gap, when it is before all rows. */
UNWIND_INLINE __u32 unwind_find_row(__u32 root, __u32 owner, __u32 address,
				    __u32 *ret_rule UNWIND_CONTEXT)
{
	const struct wire_inner *inner;
	const struct wire_leaf *leaf;
	__u32 block = root, low, high, relative;
	__u64 found;

	for (__u32 level = 1; level < WIRE_MAX_LEVELS; level++) {
		inner = UNWIND_BLOCK(block);
		if (!inner || inner->header.owner != owner)
			return WIRE_END_STALE;
		if (inner->header.level == 0)
			break;
		low = 0;
		high = inner->header.n;
		UNWIND_SEARCH(low, high, UNWIND_INNER_STEPS, 0, WIRE_INNER_CHILDREN,
			      inner->keys[at] <= address);
		found = low;
		UNWIND_OPAQUE(found);
		if (found >= WIRE_INNER_CHILDREN)
			return WIRE_END_STALE;
		block = inner->children[found];
		if (inner->keys[found] > address)
			block = WIRE_NO_BLOCK;
		if (*(volatile const __u32 *)&inner->header.owner != owner)
			return WIRE_END_STALE;
		if (block == WIRE_NO_BLOCK) {
			*ret_rule = 0;
			return WIRE_END_NONE;
		}
	}
	leaf = UNWIND_BLOCK(block);
	if (!leaf || leaf->header.owner != owner || leaf->header.level != 0)
		return WIRE_END_STALE;
	*ret_rule = 0;
	if (address < leaf->header.base || leaf->header.n == 0)
		return WIRE_END_NONE;
	relative = address - leaf->header.base;
	if (relative > 0xffff) /* beyond the last row, which goes on */
		relative = 0xffff;
	low = 0;
	high = (leaf->header.n + WIRE_LEAF_GROUP - 1) / WIRE_LEAF_GROUP;
	UNWIND_SEARCH(low, high, UNWIND_LEAF_STEPS, 0, WIRE_LEAF_GROUPS,
		      leaf->groups[at] <= relative);
	low *= WIRE_LEAF_GROUP;
	high = low + WIRE_LEAF_GROUP;
	if (high > leaf->header.n)
		high = leaf->header.n;
	UNWIND_SEARCH(low, high, UNWIND_LEAF_STEPS, 0, WIRE_LEAF_ROWS,
		      WIRE_ROW_ADDRESS(leaf->rows[at]) <= relative);
	found = low;
	UNWIND_OPAQUE(found);
	if (found >= WIRE_LEAF_ROWS)
		return WIRE_END_STALE;
	if (WIRE_ROW_ADDRESS(leaf->rows[found]) <= relative)
		*ret_rule = WIRE_ROW_RULE(leaf->rows[found]);
	return *(volatile const __u32 *)&leaf->header.owner == owner ? WIRE_END_NONE
								     : WIRE_END_STALE;
}

#endif
