/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/symbol_tables.h"

#include <errno.h>

#include "elf/debug_data.h"
#include "elf/elf_symbols.h"

void symbol_tables_close(struct symbol_tables *tables)
{
	elf_file_close(tables->main);
	elf_file_close(tables->symfs);
	elf_file_close(tables->debug);
	elf_file_close(tables->data);
	own_fd(&tables->symfs_fd);
	own_fd(&tables->debug_fd);
	free(tables->data_bytes);
}

/* `fd` may be negative. 0, 1 if functions were found, or -ENOMEM. */
static int search_debug_file(struct elf_symbols *search, int fd, struct elf_file **ret_file)
{
	int64_t n;

	if (fd < 0 || elf_file_open(fd, ret_file) < 0)
		return 0;
	n = elf_symbols_file(search, *ret_file);
	return n == -ENOMEM ? (int)n : n > 0;
}

static int search_debug_data(struct symbol_tables *tables, struct elf_symbols *search)
{
	size_t size;
	int64_t n;
	int r = debug_data_load(tables->main, &tables->data_bytes, &size);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	r = elf_file_open_memory(tables->data_bytes, size, &tables->data);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	n = elf_symbols_file(search, tables->data);
	return n == -ENOMEM ? (int)n : 0;
}

int symbol_tables_find(struct symbol_tables *tables, const char *path,
		       const struct debug_places *places, struct pool *pool,
		       struct symbol_query *queries, size_t n)
{
	own(own_elf_symbols_free) struct elf_symbols *search = NULL;
	int64_t functions;
	int found = 0, r = elf_symbols_new(queries, n, &search);

	if (r < 0)
		return r;
	functions = elf_symbols_file(search, tables->main);
	if (functions == -ENOMEM)
		return -ENOMEM;
	if (places && places->symfs) {
		tables->symfs_fd = debug_file_open_symfs(tables->main, path, places);
		found = search_debug_file(search, tables->symfs_fd, &tables->symfs);
	}
	if (!found && functions <= 0 && places) {
		tables->debug_fd = debug_file_open(tables->main, path, places);
		found = search_debug_file(search, tables->debug_fd, &tables->debug);
	}
	if (!found && functions <= 0)
		found = search_debug_data(tables, search);
	return found < 0 ? found : elf_symbols_finish(search, pool);
}
