/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Room for chunks of mappings, in blocks that several processes share: most have a dozen or two.
 * Room that was given back is used again after a grace period. For one thread. Must not know: what
 * is in a chunk, but its head's owner.
 */
#ifndef STACKTALLY_UNWIND_CHUNK_SLOTS_H
#define STACKTALLY_UNWIND_CHUNK_SLOTS_H

#include "unwind/blocks.h"

struct chunk_slots;

int chunk_slots_new(struct blocks *blocks, struct chunk_slots **ret_slots);
/* Their blocks go with the pool. */
void chunk_slots_free(struct chunk_slots *slots);

/*
 * Room for a head and `n` (1 to 127) mappings: sets the chunk's block, slot and n. 0, -ENOSPC,
 * -ENOMEM, or as blocks_take().
 */
int chunk_slots_take(struct chunk_slots *slots, uint16_t n, struct wire_chunk *ret_chunk);
void chunk_slots_give(struct chunk_slots *slots, const struct wire_chunk *chunk);
/* Of the head; the mappings follow it. */
struct wire_mapping *chunk_slots_at(const struct chunk_slots *slots,
				    const struct wire_chunk *chunk);

/* Slots that wait for a grace period. */
uint32_t chunk_slots_let_go(const struct chunk_slots *slots);

#endif
