// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INDEX_MIN_SLOTS 64u

void index_free(struct index *index)
{
	if (!index)
		return;
	free(index->slots);
	*index = (struct index){ 0 };
}

/* The bits of a hash that are stored; a larger table uses more of them. */
static uint32_t kept(uint64_t hash)
{
	return (uint32_t)(hash ^ hash >> 32);
}

static uint32_t candidate(const struct index *index, struct index_cursor *cursor)
{
	for (;; cursor->slot = (cursor->slot + 1) & index->mask) {
		const struct index_slot *slot = &index->slots[cursor->slot];

		if (slot->position == INDEX_NONE || slot->hash == cursor->hash)
			return slot->position;
	}
}

uint32_t index_first(const struct index *index, uint64_t hash, struct index_cursor *ret_cursor)
{
	if (!index->slots)
		return INDEX_NONE;
	ret_cursor->hash = kept(hash);
	ret_cursor->slot = ret_cursor->hash & index->mask;
	return candidate(index, ret_cursor);
}

uint32_t index_next(const struct index *index, struct index_cursor *cursor)
{
	cursor->slot = (cursor->slot + 1) & index->mask;
	return candidate(index, cursor);
}

static void place(struct index_slot *slots, uint32_t mask, struct index_slot slot)
{
	uint32_t at = slot.hash & mask;

	while (slots[at].position != INDEX_NONE)
		at = (at + 1) & mask;
	slots[at] = slot;
}

static int enlarge(struct index *index)
{
	uint32_t slots = index->slots ? (index->mask + 1) * 2 : INDEX_MIN_SLOTS;
	struct index_slot *grown;

	if (slots == 0 || slots > UINT32_MAX / 2)
		return -ENOMEM;
	grown = malloc((size_t)slots * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memset(grown, 0xff, (size_t)slots * sizeof(*grown)); /* every position INDEX_NONE */
	for (uint32_t i = 0; index->slots && i <= index->mask; i++)
		if (index->slots[i].position != INDEX_NONE)
			place(grown, slots - 1, index->slots[i]);
	free(index->slots);
	index->slots = grown;
	index->mask = slots - 1;
	return 0;
}

int index_add(struct index *index, uint64_t hash, uint32_t position)
{
	/* At most two thirds full, so that failing searches stay short. */
	if (!index->slots || index->used + 1 > index->mask / 3 * 2) {
		int r = enlarge(index);

		if (r < 0)
			return r;
	}
	place(index->slots, index->mask,
	      (struct index_slot){ .position = position, .hash = kept(hash) });
	index->used++;
	return 0;
}

uint64_t hash_u64(uint64_t value)
{
	value ^= value >> 32;
	value *= 0xd6e8feb86659fd93ull;
	value ^= value >> 32;
	value *= 0xd6e8feb86659fd93ull;
	return value ^ value >> 32;
}

static uint64_t load64(const unsigned char *at)
{
	uint64_t word;

	memcpy(&word, at, 8);
	return word;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0xd6e8feb86659fd93ull;
	return hash ^ hash >> 32;
}

uint64_t hash_bytes(const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	uint64_t hash = size * 0x9e3779b97f4a7c15ull, other = ~hash;

	/* Two at a time: each waits for a multiplication. */
	for (; size >= 16; size -= 16, at += 16) {
		hash = mix(hash, load64(at));
		other = mix(other, load64(at + 8));
	}
	if (size >= 8) {
		hash = mix(hash, load64(at));
		size -= 8;
		at += 8;
	}
	if (size) {
		uint64_t word = 0;

		memcpy(&word, at, size);
		other = mix(other, word);
	}
	return hash_u64(hash ^ (other << 29 | other >> 35));
}
