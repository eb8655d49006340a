/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the sources of symbols are asked. Lookups come in batches, sorted by address and without
 * doubles, so that a source can pass over its table once, however large that is, and keep only
 * what was asked for.
 */
#ifndef STACKTALLY_ELF_SYMBOL_QUERY_H
#define STACKTALLY_ELF_SYMBOL_QUERY_H

#include <stddef.h>
#include <stdint.h>

struct symbol_query {
	uint64_t address; /* what to look up, in the terms of the source */
	uint64_t start;	  /* answer: where the symbol starts */
	const char *name; /* answer: as in the table, from the pool of the caller; NULL: none */
	uint32_t chain; /* answer: of inlined functions and lines (inlines.h), or QUERY_NO_CHAIN */
};

#define QUERY_NO_CHAIN UINT32_MAX

/* The first query at or above the address: an index from 0 to n. */
static inline size_t query_lower_bound(const struct symbol_query *queries, size_t n,
				       uint64_t address)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (queries[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
