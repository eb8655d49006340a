// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize/placed_queries.h"

#include <errno.h>
#include <stdlib.h>

#include "base/own.h"

/* A query by the file's own address, and the index of the one it was made of. */
struct pair {
	uint64_t address;
	size_t origin;
};

static int compare(const void *left, const void *right)
{
	const struct pair *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return 0;
}

static bool is_sorted(const struct pair *pairs, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (pairs[i].address < pairs[i - 1].address)
			return false;
	}
	return true;
}

void placed_queries_free(struct placed_queries *placed)
{
	free(placed->queries);
	free(placed->origins);
	*placed = PLACED_QUERIES_NONE;
}

int placed_queries_make(const struct elf_file *elf, const struct symbol_query *queries, size_t n,
			struct placed_queries *ret_placed)
{
	own(own_free) struct pair *pairs = malloc((n + 1) * sizeof(*pairs));
	own(placed_queries_free) struct placed_queries placed = PLACED_QUERIES_NONE;

	placed.queries = calloc(n + 1, sizeof(*placed.queries));
	placed.origins = malloc((n + 1) * sizeof(*placed.origins));
	if (!pairs || !placed.queries || !placed.origins)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint64_t address;

		if (elf_file_address(elf, queries[i].address, &address))
			pairs[placed.n++] = (struct pair){ address, i };
	}
	/* Files with one segment of code, which most are, need no sorting. */
	if (!is_sorted(pairs, placed.n))
		qsort(pairs, placed.n, sizeof(*pairs), compare);
	for (size_t i = 0; i < placed.n; i++) {
		placed.queries[i].address = pairs[i].address;
		placed.queries[i].chain = QUERY_NO_CHAIN;
		placed.origins[i] = pairs[i].origin;
	}
	*ret_placed = placed;
	placed = PLACED_QUERIES_NONE;
	return 0;
}

void placed_queries_give(const struct placed_queries *placed, struct symbol_query *queries)
{
	for (size_t i = 0; i < placed->n; i++) {
		const struct symbol_query *from = &placed->queries[i];
		struct symbol_query *to = &queries[placed->origins[i]];

		to->name = from->name;
		to->is_start = from->is_start;
		/* Distances are the same in the file and in memory. */
		to->start = to->address - (from->address - from->start);
	}
}
