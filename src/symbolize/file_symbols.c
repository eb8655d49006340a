/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/file_symbols.h"

#include <errno.h>
#include <stdlib.h>

#include "symbolize/sources.h"
#include "symbolize/symbol_tables.h"

/* A query by the file's own address, and the index of the one it was made of. */
struct placed {
	uint64_t address;
	size_t origin;
};

static int compare_placed(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return 0;
}

/* The queries whose offsets are loaded to an address, sorted by that. */
static int place_queries(const struct elf_file *elf, const struct symbol_query *queries, size_t n,
			 struct placed **ret_placed, size_t *ret_n)
{
	struct placed *placed = malloc((n ? n : 1) * sizeof(*placed));
	size_t n_placed = 0;

	if (!placed)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint64_t address;

		if (elf_file_address(elf, queries[i].address, &address))
			placed[n_placed++] = (struct placed){ address, i };
	}
	qsort(placed, n_placed, sizeof(*placed), compare_placed);
	*ret_placed = placed;
	*ret_n = n_placed;
	return 0;
}

static bool all_named(const struct symbol_query *queries, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!queries[i].name)
			return false;
	}
	return true;
}

static int find_names(const struct file_symbols_request *request, struct symbol_tables *tables,
		      struct symbol_query *queries, size_t n)
{
	int r = symbol_tables_find(tables, request->path, request->places, request->pool, queries,
				   n);

	if (r < 0)
		return r;
	for (file_source *const *source = sources_of_files; *source; source++) {
		if (all_named(queries, n))
			break;
		r = (*source)(tables->main, queries, n, request->pool);
		if (r < 0)
			return r;
	}
	return 0;
}

/* DWARF is in the file itself or in its debug file. */
static int find_inlines(const struct file_symbols_request *request, struct symbol_tables *tables,
			struct symbol_query *queries, size_t n)
{
	int fd = request->fd;

	if (!request->inlines)
		return 0;
	if (!elf_file_section(tables->main, ".debug_info")) {
		if (tables->debug_fd < 0 && tables->symfs_fd < 0 && request->places)
			tables->debug_fd =
				debug_file_open(tables->main, request->path, request->places);
		fd = tables->debug_fd < 0 ? tables->symfs_fd : tables->debug_fd;
	}
	return fd < 0 ? 0 : inlines_find(request->inlines, fd, queries, n);
}

static int find_in(const struct file_symbols_request *request, struct symbol_tables *tables,
		   struct symbol_query *queries, size_t n)
{
	own(own_free) struct placed *placed = NULL;
	own(own_free) struct symbol_query *by_address = NULL;
	size_t n_placed;
	int r = place_queries(tables->main, queries, n, &placed, &n_placed);

	if (r < 0)
		return r;
	by_address = calloc(n_placed ? n_placed : 1, sizeof(*by_address));
	if (!by_address)
		return -ENOMEM;
	for (size_t i = 0; i < n_placed; i++) {
		by_address[i].address = placed[i].address;
		by_address[i].chain = QUERY_NO_CHAIN;
	}
	r = find_names(request, tables, by_address, n_placed);
	if (r < 0)
		return r;
	r = find_inlines(request, tables, by_address, n_placed);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n_placed; i++) {
		struct symbol_query *query = &queries[placed[i].origin];

		query->name = by_address[i].name;
		query->chain = by_address[i].chain;
		/* Distances are the same in the file and in memory. */
		query->start = query->address - (by_address[i].address - by_address[i].start);
	}
	return 0;
}

int file_symbols_find(const struct file_symbols_request *request, struct symbol_query *queries,
		      size_t n)
{
	own(symbol_tables_close) struct symbol_tables tables = SYMBOL_TABLES_NONE;
	int r = elf_file_open(request->fd, &tables.main);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	return find_in(request, &tables, queries, n);
}

int file_symbols_find_memory(const void *bytes, size_t size, struct pool *pool,
			     struct symbol_query *queries, size_t n)
{
	const struct file_symbols_request request = { .fd = -1, .pool = pool };
	own(symbol_tables_close) struct symbol_tables tables = SYMBOL_TABLES_NONE;
	int r = elf_file_open_memory(bytes, size, &tables.main);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	return find_in(&request, &tables, queries, n);
}
