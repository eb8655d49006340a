// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/go_symbols.h"

#include <errno.h>

#include "base/partition.h"
#include "elf/go_table.h"

#define MAX_NAME 4096 /* bytes; longer names are cut */

/* The last function that was found. Queries are sorted: the search for the next starts there. */
struct found {
	uint32_t i;
	uint64_t begin, end; /* `end` is 0 before the first one */
	const char *name;
};

static bool begins_by(const struct go_table *table, uint32_t i, uint64_t address)
{
	uint64_t begin;

	return go_table_address(table, i, &begin) && begin <= address;
}

/* The first function from number `low` on that begins above the address, or `n_functions`. */
static uint32_t find_above(const struct go_table *table, uint32_t low, uint64_t address)
{
	uint32_t high = table->n_functions;

	/* In steps that double, as the one wanted is mostly near. */
	for (uint32_t step = 1; step < high - low; step *= 2) {
		if (!begins_by(table, low + step, address)) {
			high = low + step;
			break;
		}
		low += step;
	}
	return low + (uint32_t)partition_point(i, high - low,
					       begins_by(table, low + (uint32_t)i, address));
}

static int answer(const struct go_table *table, struct symbol_query *query, struct pool *pool,
		  struct found *found)
{
	struct go_function function;
	char name[MAX_NAME];
	uint32_t above;

	if (query->address < found->begin || query->address >= found->end) {
		above = find_above(table, found->i, query->address);
		if (!above || !go_table_function(table, above - 1, &function) ||
		    query->address < function.begin || query->address >= function.end)
			return 0;
		*found = (struct found){ above - 1, function.begin, function.end, NULL };
		if (go_table_name(table, &function, name, sizeof(name)) > 0) {
			found->name = pool_string(pool, name);
			if (!found->name)
				return -ENOMEM;
		}
	}
	query->name = found->name;
	query->start = found->begin;
	return 0;
}

int go_symbols_find(const struct elf_file *elf, struct symbol_query *queries, size_t n,
		    struct pool *pool)
{
	struct found found = { 0 };
	struct go_table table;
	int r = go_table_open(elf, &table);

	if (r < 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (queries[i].name)
			continue;
		r = answer(&table, &queries[i], pool, &found);
		if (r < 0)
			return r;
	}
	return 0;
}
