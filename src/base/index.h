/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash index with open addressing: maps hashes to positions in an array that the caller owns. It
 * holds 32 bits of hash and a 32-bit position for each element and never sees the element itself,
 * so one implementation serves all arrays, and growing it reads no element.
 *
 * To look up: compare the candidates that index_first() and index_next() give. To add: append to
 * the array and call index_add() with the new position. Zero-initialized; index_free() it.
 */
#ifndef STACKTALLY_BASE_INDEX_H
#define STACKTALLY_BASE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE UINT32_MAX

struct index_slot {
	uint32_t position; /* INDEX_NONE: empty */
	uint32_t hash;
};

struct index {
	struct index_slot *slots;
	uint32_t mask; /* number of slots - 1; 0 and no slots until something is added */
	uint32_t used;
};

struct index_cursor {
	uint32_t slot;
	uint32_t hash;
};

void index_free(struct index *index);

/* The memory that it uses. */
static inline uint64_t index_bytes(const struct index *index)
{
	return index->slots ? ((uint64_t)index->mask + 1) * sizeof(*index->slots) : 0;
}

/* The position of the first or next element whose hash may be `hash`, or INDEX_NONE. */
uint32_t index_first(const struct index *index, uint64_t hash, struct index_cursor *ret_cursor);
uint32_t index_next(const struct index *index, struct index_cursor *cursor);

/* Prefetches what index_first() will read. Pays off some lookups ahead, in a large index. */
static inline void index_prefetch(const struct index *index, uint64_t hash)
{
	if (index->slots)
		__builtin_prefetch(&index->slots[(uint32_t)(hash ^ hash >> 32) & index->mask]);
}

/* Adds `position` under `hash`. 0, or -ENOMEM: nothing was added. */
int index_add(struct index *index, uint64_t hash, uint32_t position);

/* Hashes of a value and of a byte string: not cryptographic. */
uint64_t hash_u64(uint64_t value);
uint64_t hash_bytes(const void *bytes, size_t size);

#endif
