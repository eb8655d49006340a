/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocates the slots of chunks of mappings (struct wire_chunk), in blocks that several layouts
 * share: most have a dozen mappings or two. Slots that are given back are used again after a grace
 * period. For one thread. Must not know: what is in a chunk, except its head's owner.
 */
#ifndef STACKTALLY_UNWIND_CHUNK_SLOTS_H
#define STACKTALLY_UNWIND_CHUNK_SLOTS_H

#include "unwind/blocks.h"

struct chunk_slots;

/* `blocks` is borrowed. 0 or -ENOMEM. */
int chunk_slots_new(struct blocks *blocks, struct chunk_slots **ret_slots);
/* Does not give the blocks back: free the pool next. */
void chunk_slots_free(struct chunk_slots *slots);

/*
 * Takes slots for a head and `n` (1 to 127) mappings; sets the chunk's block, slot and n. 0,
 * -ENOSPC, -ENOMEM, or as blocks_take().
 */
int chunk_slots_take(struct chunk_slots *slots, uint16_t n, struct wire_chunk *ret_chunk);
void chunk_slots_give(struct chunk_slots *slots, const struct wire_chunk *chunk);
/* The slot of the chunk's head (struct wire_chunk_head); the mappings follow. As blocks_at(). */
struct wire_mapping *chunk_slots_at(const struct chunk_slots *slots,
				    const struct wire_chunk *chunk);

/* How many slots wait for a grace period. */
uint32_t chunk_slots_retired(const struct chunk_slots *slots);

#endif
