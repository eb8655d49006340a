/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/symbol_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/partition.h"

/* Packed: there may be millions. */
struct entry {
	uint64_t offset;
	struct symbol_match match;
} __attribute__((packed, aligned(4)));

struct file_entries {
	struct entry *entries; /* sorted by offset */
	size_t n;
};

struct symbol_cache {
	struct pool *pool;
	struct symbol *symbols;
	uint32_t n_symbols, capacity;
	struct file_entries *files; /* by id */
	uint32_t n_files;
};

int symbol_cache_new(struct symbol_cache **ret_cache)
{
	own(own_symbol_cache_free) struct symbol_cache *cache = calloc(1, sizeof(*cache));
	int r;

	if (!cache)
		return -ENOMEM;
	r = pool_new(&cache->pool);
	if (r < 0)
		return r;
	*ret_cache = take_ptr(cache);
	return 0;
}

void symbol_cache_free(struct symbol_cache *cache)
{
	if (!cache)
		return;
	for (uint32_t i = 0; i < cache->n_files; i++)
		free(cache->files[i].entries);
	free(cache->files);
	free(cache->symbols);
	pool_free(cache->pool);
	free(cache);
}

struct pool *symbol_cache_pool(struct symbol_cache *cache)
{
	return cache->pool;
}

const struct symbol *symbol_cache_symbol(const struct symbol_cache *cache, uint32_t symbol)
{
	return &cache->symbols[symbol];
}

int symbol_cache_add(struct symbol_cache *cache, const struct symbol *symbol, uint32_t *ret_index)
{
	struct symbol added = *symbol;
	int r;

	if (cache->n_symbols == SYMBOL_NONE)
		return -EFBIG;
	r = grow(&cache->symbols, &cache->capacity, (size_t)cache->n_symbols + 1);
	if (r < 0)
		return r;
	if (added.module) {
		added.module = pool_string(cache->pool, added.module);
		if (!added.module)
			return -ENOMEM;
	}
	*ret_index = cache->n_symbols;
	cache->symbols[cache->n_symbols++] = added;
	return 0;
}

bool symbol_cache_find(const struct symbol_cache *cache, uint32_t file, uint64_t offset,
		       size_t *from, struct symbol_match *ret_match)
{
	const struct file_entries *entries;
	size_t low = *from, high;

	if (file >= cache->n_files)
		return false;
	entries = &cache->files[file];
	high = entries->n;
	/* In steps that double: the next offset is mostly near. */
	for (size_t step = 1; low + step < high; step *= 2) {
		if (entries->entries[low + step].offset >= offset) {
			high = low + step + 1;
			break;
		}
		low += step;
	}
	low += partition_point(i, high - low, entries->entries[low + i].offset < offset);
	*from = low;
	if (low == entries->n || entries->entries[low].offset != offset)
		return false;
	*ret_match = entries->entries[low].match;
	return true;
}

static int make_file(struct symbol_cache *cache, uint32_t file)
{
	uint32_t n = file + 1 + file / 2;
	struct file_entries *grown;

	if (file < cache->n_files)
		return 0;
	if (n <= file)
		return -EFBIG;
	grown = reallocarray(cache->files, n, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memset(grown + cache->n_files, 0, (n - cache->n_files) * sizeof(*grown));
	cache->files = grown;
	cache->n_files = n;
	return 0;
}

int symbol_cache_insert(struct symbol_cache *cache, uint32_t file,
			const struct symbol_query *queries, const struct symbol_match *matches,
			size_t n)
{
	struct file_entries *entries;
	struct entry *merged;
	size_t old = 0, new = 0;
	int r = make_file(cache, file);

	if (r < 0)
		return r;
	entries = &cache->files[file];
	merged = malloc((entries->n + n ? entries->n + n : 1) * sizeof(*merged));
	if (!merged)
		return -ENOMEM;
	for (size_t i = 0; old < entries->n || new < n; i++) {
		if (new == n ||
		    (old < entries->n && entries->entries[old].offset < queries[new].address)) {
			merged[i] = entries->entries[old++];
		} else {
			merged[i].offset = queries[new].address;
			merged[i].match = matches[new];
			new ++;
		}
	}
	free(entries->entries);
	entries->entries = merged;
	entries->n += n;
	return 0;
}
