/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols that were found, each stored once, and which of them lies at which offset of which file.
 * Kept between resolves: an offset of a file is looked up once, however many processes map it.
 *
 * Owns the strings of the symbols. Not for several threads. Must not know: processes, where
 * symbols come from.
 */
#ifndef STACKTALLY_SYMBOLIZE_SYMBOL_CACHE_H
#define STACKTALLY_SYMBOLIZE_SYMBOL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/own.h"
#include "base/pool.h"
#include "elf/symbol_query.h"

#define SYMBOL_NONE UINT32_MAX

struct symbol {
	const char *name;	  /* demangled */
	const char *linkage_name; /* NULL: the same */
	const char *module;	  /* NULL: the module of the mapping */
	uint32_t flags;		  /* enum names_frame_flags */
};

/* What was found for one address. */
struct symbol_match {
	uint32_t symbol; /* or SYMBOL_NONE */
	uint32_t offset; /* of the address from the symbol's start, in bytes */
	uint32_t chain;	 /* of inlined functions and lines (inlines.h), or QUERY_NO_CHAIN */
};

struct symbol_cache;

/* 0 or -ENOMEM. */
int symbol_cache_new(struct symbol_cache **ret_cache);
void symbol_cache_free(struct symbol_cache *cache);
DEFINE_OWN(struct symbol_cache, symbol_cache_free)

/* The pool of the symbols' strings; borrowed. */
struct pool *symbol_cache_pool(struct symbol_cache *cache);

/* Borrowed until the next symbol is added. */
const struct symbol *symbol_cache_symbol(const struct symbol_cache *cache, uint32_t symbol);

/*
 * Adds a symbol and gives its index. The names are from the pool; the module is copied. 0, -ENOMEM
 * or -EFBIG.
 */
int symbol_cache_add(struct symbol_cache *cache, const struct symbol *symbol, uint32_t *ret_index);

/*
 * Finds an offset of a file; false when it has not been looked up yet. Call it with ascending
 * offsets: *from, 0 at first, is where the search begins.
 */
bool symbol_cache_find(const struct symbol_cache *cache, uint32_t file, uint64_t offset,
		       size_t *from, struct symbol_match *ret_match);

/*
 * Stores the matches of `n` queries in a file, sorted by address, none of which is in the cache; a
 * match without a symbol is stored, too. 0, -ENOMEM or -EFBIG.
 */
int symbol_cache_insert(struct symbol_cache *cache, uint32_t file,
			const struct symbol_query *queries, const struct symbol_match *matches,
			size_t n);

#endif
