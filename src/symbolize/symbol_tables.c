/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/symbol_tables.h"

#include <errno.h>

#include "cfi/label_extent.h"
#include "elf/debug_data.h"
#include "elf/elf_symbols.h"

void symbol_tables_close(struct symbol_tables *tables)
{
	elf_file_close(tables->main);
	elf_file_close(tables->symfs);
	elf_file_close(tables->debug);
	elf_file_close(tables->data);
	free(tables->data_bytes);
}

/* 0, 1 if functions were found, or -ENOMEM. */
static int search_debug_file(struct elf_symbols *search, const struct elf_file *elf)
{
	int64_t n = elf ? elf_symbols_file(search, elf) : 0;

	return n == -ENOMEM ? (int)n : n > 0;
}

static int search_debug_data(struct symbol_tables *tables, struct elf_symbols *search)
{
	size_t size;
	int r = debug_data_load(tables->main, &tables->data_bytes, &size);

	if (r == 0)
		r = elf_file_open_memory(tables->data_bytes, size, &tables->data);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	r = search_debug_file(search, tables->data);
	return r < 0 ? r : 0;
}

int symbol_tables_find(struct symbol_tables *tables, struct pool *pool,
		       struct symbol_query *queries, size_t n)
{
	own(own_elf_symbols_free) struct elf_symbols *search = NULL;
	own(label_extent_close) struct label_extent labels = { 0 };
	const struct elf_code_extent extent = { label_extent_find, &labels };
	int found, r = elf_symbols_new(queries, n, &search);
	int64_t functions;

	if (r < 0)
		return r;
	functions = elf_symbols_file(search, tables->main);
	if (functions == -ENOMEM)
		return -ENOMEM;
	found = search_debug_file(search, tables->symfs);
	tables->wants_debug = found == 0 && functions <= 0;
	if (tables->wants_debug)
		found = search_debug_file(search, tables->debug);
	if (found == 0 && functions <= 0)
		found = search_debug_data(tables, search);
	if (found < 0)
		return found;
	label_extent_open(&labels, tables->main);
	return elf_symbols_finish(search, &extent, pool);
}
