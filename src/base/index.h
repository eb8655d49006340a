/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An open-addressing index: finds positions in an array that the caller owns. It holds 32 bits of
 * hash and a 32-bit position for each element and never sees the element itself, so one
 * implementation serves every table of the program, and growing one touches no element.
 *
 * Use: walk the candidates of a hash with index_first()/index_next(), compare each yourself;
 * when none fits, append to the array and index_add() the new position.
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
	uint32_t mask; /* number of slots - 1; slots is NULL as long as nothing was inserted */
	uint32_t used;
};

struct index_cursor {
	uint32_t slot;
	uint32_t hash;
};

void index_free(struct index *index);

/* The position of the first candidate for `hash`, or INDEX_NONE. */
uint32_t index_first(const struct index *index, uint64_t hash, struct index_cursor *ret_cursor);
uint32_t index_next(const struct index *index, struct index_cursor *cursor);

/* Starts to fetch what index_first() will look at: worth it some lookups ahead in a large index. */
static inline void index_prefetch(const struct index *index, uint64_t hash)
{
	if (index->slots)
		__builtin_prefetch(&index->slots[(uint32_t)(hash ^ hash >> 32) & index->mask]);
}

/* Adds `position` under `hash`. Returns 0 or -ENOMEM (then nothing was added). */
int index_add(struct index *index, uint64_t hash, uint32_t position);

/* A 64-bit mix of a value, and of a byte string: for tables, not for security. */
uint64_t hash_u64(uint64_t value);
uint64_t hash_bytes(const void *bytes, size_t size);

#endif
