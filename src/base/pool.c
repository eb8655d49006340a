// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/pool.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"

#define POOL_CHUNK 65536u

struct chunk {
	struct chunk *next;
	size_t used, size;
	char bytes[];
};

struct entry {
	const char *string;
	size_t size;
};

struct pool {
	struct chunk *chunks;
	struct entry *entries;
	uint32_t n_entries, capacity;
	uint32_t references;
	struct index index;
};

int pool_new(struct pool **ret_pool)
{
	struct pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return -ENOMEM;
	pool->references = 1;
	*ret_pool = pool;
	return 0;
}

void pool_free(struct pool *pool)
{
	if (!pool || --pool->references > 0)
		return;
	for (struct chunk *chunk = pool->chunks; chunk;) {
		struct chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
	free(pool->entries);
	index_free(&pool->index);
	free(pool);
}

struct pool *pool_share(struct pool *pool)
{
	pool->references++;
	return pool;
}

static char *room_for(struct pool *pool, size_t size)
{
	struct chunk *chunk = pool->chunks;

	if (!chunk || chunk->size - chunk->used < size) {
		bool large = size > POOL_CHUNK / 4;
		size_t capacity = large ? size : POOL_CHUNK - sizeof(*chunk);

		chunk = malloc(sizeof(*chunk) + capacity);
		if (!chunk)
			return NULL;
		chunk->used = 0;
		chunk->size = capacity;
		if (large && pool->chunks) {
			/* Second in the list: the first chunk still has room for small strings. */
			chunk->next = pool->chunks->next;
			pool->chunks->next = chunk;
		} else {
			chunk->next = pool->chunks;
			pool->chunks = chunk;
		}
	}
	chunk->used += size;
	return chunk->bytes + chunk->used - size;
}

const char *pool_string_n(struct pool *pool, const char *bytes, size_t size)
{
	uint64_t hash = hash_bytes(bytes, size);
	struct index_cursor cursor;
	char *copy;

	for (uint32_t at = index_first(&pool->index, hash, &cursor); at != INDEX_NONE;
	     at = index_next(&pool->index, &cursor)) {
		const struct entry *entry = &pool->entries[at];

		if (entry->size == size && memcmp(entry->string, bytes, size) == 0)
			return entry->string;
	}
	if (grow(&pool->entries, &pool->capacity, (size_t)pool->n_entries + 1) < 0)
		return NULL;
	copy = room_for(pool, size + 1);
	if (!copy)
		return NULL;
	memcpy(copy, bytes, size);
	copy[size] = '\0';
	pool->entries[pool->n_entries] = (struct entry){ .string = copy, .size = size };
	if (index_add(&pool->index, hash, pool->n_entries) < 0)
		return NULL;
	pool->n_entries++;
	return copy;
}

const char *pool_string(struct pool *pool, const char *string)
{
	return pool_string_n(pool, string, strlen(string));
}
