/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/file_symbols.h"

#include <errno.h>
#include <stdlib.h>

#include "elf/debug_data.h"
#include "elf/elf_stubs.h"
#include "elf/elf_symbols.h"
#include "elf/go_symbols.h"

/* A query in the file's own addresses, and which of the given ones it came from. */
struct placed {
	uint64_t address;
	size_t origin;
};

/* All that is open while one file is searched. */
struct sources {
	struct elf_file *main, *debug, *data;
	int debug_fd;
	void *data_bytes;
};

static void close_sources(struct sources *sources)
{
	elf_file_close(sources->main);
	elf_file_close(sources->debug);
	elf_file_close(sources->data);
	own_fd(&sources->debug_fd);
	free(sources->data_bytes);
}

static int compare_placed(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return 0;
}

/* The queries whose bytes are loaded somewhere, in the order of those addresses. */
static int place_queries(const struct elf_file *elf, const struct symbol_query *queries, size_t n,
			 struct placed **ret_placed, size_t *ret_n)
{
	struct placed *placed = malloc((n ? n : 1) * sizeof(*placed));
	size_t used = 0;

	if (!placed)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint64_t address;

		if (elf_file_address(elf, queries[i].address, &address))
			placed[used++] = (struct placed){ address, i };
	}
	qsort(placed, used, sizeof(*placed), compare_placed);
	*ret_placed = placed;
	*ret_n = used;
	return 0;
}

static bool any_left(const struct symbol_query *queries, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!queries[i].name)
			return true;
	}
	return false;
}

static int search_debug_file(struct sources *sources, struct elf_symbols *search, int fd)
{
	int64_t n;

	if (fd < 0)
		return 0;
	own_fd(&sources->debug_fd);
	sources->debug_fd = fd;
	if (elf_file_open(fd, &sources->debug))
		return 0;
	n = elf_symbols_file(search, sources->debug);
	return n == -ENOMEM ? (int)n : n > 0;
}

static int search_debug_data(struct sources *sources, struct elf_symbols *search)
{
	size_t size;
	int64_t n;
	int r = debug_data_load(sources->main, &sources->data_bytes, &size);

	if (r)
		return r == -ENOMEM ? r : 0;
	r = elf_file_open_memory(sources->data_bytes, size, &sources->data);
	if (r)
		return r == -ENOMEM ? r : 0;
	n = elf_symbols_file(search, sources->data);
	return n == -ENOMEM ? (int)n : 0;
}

static int search_tables(const struct file_symbols_request *request, struct sources *sources,
			 struct symbol_query *queries, size_t n)
{
	own(own_elf_symbols_free) struct elf_symbols *search = NULL;
	const struct debug_places *places = request->places;
	int64_t functions;
	int r = elf_symbols_new(queries, n, &search);

	if (r)
		return r;
	functions = elf_symbols_file(search, sources->main);
	if (functions == -ENOMEM)
		return -ENOMEM;
	r = 0;
	if (places && places->symfs)
		r = search_debug_file(sources, search,
				      debug_file_open_symfs(sources->main, request->path, places));
	if (!r && functions <= 0 && places)
		r = search_debug_file(sources, search,
				      debug_file_open(sources->main, request->path, places));
	if (!r && functions <= 0)
		r = search_debug_data(sources, search);
	if (r < 0)
		return r;
	return elf_symbols_finish(search, request->pool);
}

static int search_rest(const struct file_symbols_request *request, const struct elf_file *elf,
		       struct symbol_query *queries, size_t n)
{
	int r = 0;

	if (any_left(queries, n))
		r = elf_stubs_find(elf, queries, n, request->pool);
	if (!r && any_left(queries, n))
		r = go_symbols_find(elf, queries, n, request->pool);
	return r;
}

static int find_lines(const struct file_symbols_request *request, struct sources *sources,
		      struct symbol_query *queries, size_t n)
{
	int fd = request->fd;

	if (!request->inlines)
		return 0;
	if (!elf_file_section(sources->main, ".debug_info")) {
		if (sources->debug_fd < 0 && request->places)
			sources->debug_fd =
				debug_file_open(sources->main, request->path, request->places);
		fd = sources->debug_fd;
	}
	return fd < 0 ? 0 : inlines_find(request->inlines, fd, queries, n);
}

static int find_in(const struct file_symbols_request *request, struct sources *sources,
		   struct symbol_query *queries, size_t n)
{
	own(own_free) struct placed *placed = NULL;
	own(own_free) struct symbol_query *own_queries = NULL;
	size_t n_placed;
	int r = place_queries(sources->main, queries, n, &placed, &n_placed);

	if (r)
		return r;
	own_queries = calloc(n_placed ? n_placed : 1, sizeof(*own_queries));
	if (!own_queries)
		return -ENOMEM;
	for (size_t i = 0; i < n_placed; i++) {
		own_queries[i].address = placed[i].address;
		own_queries[i].chain = QUERY_NO_CHAIN;
	}
	r = search_tables(request, sources, own_queries, n_placed);
	if (!r)
		r = search_rest(request, sources->main, own_queries, n_placed);
	if (!r)
		r = find_lines(request, sources, own_queries, n_placed);
	if (r)
		return r;
	for (size_t i = 0; i < n_placed; i++) {
		struct symbol_query *query = &queries[placed[i].origin];

		query->name = own_queries[i].name;
		query->chain = own_queries[i].chain;
		/* Distances are the same in the file and in memory. */
		query->start = query->address - (own_queries[i].address - own_queries[i].start);
	}
	return 0;
}

int file_symbols_find(const struct file_symbols_request *request, struct symbol_query *queries,
		      size_t n)
{
	own(close_sources) struct sources sources = { .debug_fd = -1 };
	int r = elf_file_open(request->fd, &sources.main);

	if (r)
		return r == -ENOMEM ? r : 0;
	return find_in(request, &sources, queries, n);
}

int file_symbols_find_memory(const void *bytes, size_t size, struct pool *pool,
			     struct symbol_query *queries, size_t n)
{
	const struct file_symbols_request request = { .fd = -1, .pool = pool };
	own(close_sources) struct sources sources = { .debug_fd = -1 };
	int r = elf_file_open_memory(bytes, size, &sources.main);

	if (r)
		return r == -ENOMEM ? r : 0;
	return find_in(&request, &sources, queries, n);
}
