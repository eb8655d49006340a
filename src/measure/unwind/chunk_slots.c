// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/chunk_slots.h"

#include <errno.h>
#include <string.h>

#include "base/grow.h"

struct slot_block {
	uint32_t id;
	uint32_t n_free;
	bool used[WIRE_CHUNK_SLOTS];
};

struct retired_chunk {
	uint64_t stamp;
	struct wire_chunk chunk;
};

struct chunk_slots {
	struct blocks *blocks;
	struct slot_block *at;
	uint32_t n, capacity;
	uint32_t hint;		       /* block where slots were free last */
	struct retired_chunk *retired; /* a ring, oldest first */
	uint32_t first_retired, n_retired, retired_capacity;
	uint32_t n_slots_retired;
	uint32_t n_slots_used; /* with retired ones */
};

int chunk_slots_new(struct blocks *blocks, struct chunk_slots **ret_slots)
{
	struct chunk_slots *slots = calloc(1, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	slots->blocks = blocks;
	*ret_slots = slots;
	return 0;
}

void chunk_slots_free(struct chunk_slots *slots)
{
	if (!slots)
		return;
	free(slots->at);
	free(slots->retired);
	free(slots);
}

struct wire_mapping *chunk_slots_at(const struct chunk_slots *slots, const struct wire_chunk *chunk)
{
	struct wire_mappings *mappings = blocks_at(slots->blocks, chunk->block);

	return mappings ? &mappings->slots[chunk->slot] : NULL;
}

uint32_t chunk_slots_retired(const struct chunk_slots *slots)
{
	return slots->n_slots_retired;
}

/* A run of `n` free slots in a block; its first, or -1. */
static int find_run(const struct slot_block *block, uint32_t n)
{
	uint32_t run = 0;

	if (block->n_free < n)
		return -1;
	for (uint32_t i = 0; i < WIRE_CHUNK_SLOTS; i++) {
		run = block->used[i] ? 0 : run + 1;
		if (run == n)
			return (int)(i + 1 - n);
	}
	return -1;
}

static void release(struct chunk_slots *slots, const struct wire_chunk *chunk)
{
	struct slot_block *block = slots->at;
	struct wire_chunk_head *head = (void *)chunk_slots_at(slots, chunk);

	/* If it cannot be mapped, its old owner stays in it, which is no process's number any more.
	 */
	if (head)
		head->owner = 0;
	while (block->id != chunk->block)
		block++;
	memset(&block->used[chunk->slot], false, chunk->n + 1u);
	block->n_free += chunk->n + 1u;
	slots->n_slots_used -= chunk->n + 1u;
	if (block->n_free == WIRE_CHUNK_SLOTS) {
		blocks_give(slots->blocks, &block->id, 1);
		*block = slots->at[--slots->n];
	}
}

/* Makes slots free whose grace period is over. */
static void collect(struct chunk_slots *slots)
{
	while (slots->n_retired) {
		const struct retired_chunk *oldest = &slots->retired[slots->first_retired];

		if (!blocks_grace_over(slots->blocks, oldest->stamp))
			break;
		release(slots, &oldest->chunk);
		slots->n_slots_retired -= oldest->chunk.n + 1u;
		slots->first_retired = (slots->first_retired + 1) % slots->retired_capacity;
		slots->n_retired--;
	}
}

static int add_block(struct chunk_slots *slots)
{
	struct slot_block *block;
	uint32_t id;
	int r;

	r = grow(&slots->at, &slots->capacity, slots->n + 1);
	if (r < 0)
		return r;
	r = blocks_take(slots->blocks, 1, 0, &id);
	if (r < 0)
		return r;
	block = &slots->at[slots->n++];
	*block = (struct slot_block){ .id = id, .n_free = WIRE_CHUNK_SLOTS };
	return 0;
}

/* Makes room in the ring for all chunks that are in use, so that giving one back cannot fail. */
static int reserve_retired(struct chunk_slots *slots)
{
	uint32_t most = slots->n_slots_used / 2; /* each chunk has two slots or more */
	struct retired_chunk *grown;

	if (most <= slots->retired_capacity)
		return 0;
	most = most * 2 + 64;
	grown = calloc(most, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	for (uint32_t i = 0; i < slots->n_retired; i++)
		grown[i] = slots->retired[(slots->first_retired + i) % slots->retired_capacity];
	free(slots->retired);
	slots->retired = grown;
	slots->first_retired = 0;
	slots->retired_capacity = most;
	return 0;
}

int chunk_slots_take(struct chunk_slots *slots, uint16_t n, struct wire_chunk *ret_chunk)
{
	struct slot_block *block = NULL;
	int at = -1, r;

	collect(slots);
	for (uint32_t i = 0; i < slots->n && at < 0; i++) {
		uint32_t number = (slots->hint + i) % slots->n;

		block = &slots->at[number];
		at = find_run(block, n + 1u);
		if (at >= 0)
			slots->hint = number;
	}
	if (at < 0) {
		r = add_block(slots);
		if (r < 0)
			return r;
		slots->hint = slots->n - 1;
		block = &slots->at[slots->hint];
		at = 0;
	}
	memset(&block->used[at], true, n + 1u);
	block->n_free -= n + 1u;
	slots->n_slots_used += n + 1u;
	*ret_chunk = (struct wire_chunk){ .block = block->id, .slot = (uint16_t)at, .n = n };
	r = reserve_retired(slots);
	if (r < 0)
		release(slots, ret_chunk);
	return r;
}

void chunk_slots_give(struct chunk_slots *slots, const struct wire_chunk *chunk)
{
	uint32_t at = (slots->first_retired + slots->n_retired++) % slots->retired_capacity;

	slots->retired[at] = (struct retired_chunk){
		.stamp = blocks_stamp(slots->blocks),
		.chunk = *chunk,
	};
	slots->n_slots_retired += chunk->n + 1u;
}
