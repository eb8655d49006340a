/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "symbolize/address.h"
#include "symbolize/lookup_internal.h"
#include "symbolize/sources.h"
#include "symbolize/vdso.h"

/* Of "[FILE+0xSTART]", bytes: a file name, and a number with all that surrounds it. */
#define START_NAME_MAX (NAME_MAX + 32)

/* The match of the address that a request came from. */
static void set_match(const struct lookup_group *group, const struct lookup_request *request,
		      const struct symbol_match *match)
{
	const struct tally_address *address = &group->addresses[request->index];
	struct symbol_match *to = &group->matches[request->index];

	*to = *match;
	if (to->symbol != SYMBOL_NONE)
		to->offset += (uint32_t)(address->address - address_to_look_up(address));
}

/* The kernel's symbols can be trusted; those of its Rust code are mangled. */
static int add_kernel_symbol(struct lookup *lookup, const struct kernel_symbol *symbol,
			     uint32_t *ret_index)
{
	struct pool *pool = symbol_cache_pool(lookup->cache);
	struct symbol added = { .name = pool_string(pool, symbol->name),
				.module = symbol->module,
				.flags = NAMES_FRAME_KERNEL };

	if (!added.name)
		return -ENOMEM;
	if (demangle(added.name, lookup->demangled, sizeof(lookup->demangled))) {
		added.linkage_name = added.name;
		added.name = pool_string(pool, lookup->demangled);
		if (!added.name)
			return -ENOMEM;
	}
	return symbol_cache_add(lookup->cache, &added, ret_index);
}

static int look_up_kernel(struct lookup *lookup, const struct lookup_group *group)
{
	struct symbol_match match = { .symbol = SYMBOL_NONE, .chain = QUERY_NO_CHAIN };
	uint64_t start = 0;

	lookup->met_kernel = true;
	for (uint32_t i = 0; i < group->n; i++) {
		const struct lookup_request *request = &group->requests[i];
		struct kernel_symbol symbol;

		if (!kernel_names_find(lookup->kernel, request->key, &symbol))
			continue;
		if (match.symbol == SYMBOL_NONE || symbol.start != start) {
			int r = add_kernel_symbol(lookup, &symbol, &match.symbol);

			if (r < 0)
				return r;
			start = symbol.start;
		}
		match.offset = (uint32_t)(request->key - start);
		set_match(group, request, &match);
	}
	return 0;
}

/* Names functions that have no symbol after their file: "[FILE+0xSTART]". */
static int name_starts(struct pool *pool, const char *path, struct symbol_query *queries, size_t n)
{
	const char *slash = strrchr(path, '/'), *file = slash && slash[1] ? slash + 1 : path;
	const char *start = NULL, *name = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!queries[i].is_start)
			continue;
		if (queries[i].name != start) {
			char text[START_NAME_MAX];

			start = queries[i].name;
			snprintf(text, sizeof(text), "[%s%s]", file, start);
			name = pool_string(pool, text);
			if (!name)
				return -ENOMEM;
		}
		queries[i].name = name;
	}
	return 0;
}

/*
 * The distinct keys of a group as queries; with a cache, those that it does not have of `file` yet.
 */
static int make_queries(const struct lookup_group *group, const struct symbol_cache *cache,
			uint32_t file, struct symbol_query **ret_queries, size_t *ret_n)
{
	struct symbol_query *queries = calloc(group->n, sizeof(*queries));
	size_t n = 0, from = 0;

	if (!queries)
		return -ENOMEM;
	for (uint32_t i = 0; i < group->n; i++) {
		const struct lookup_request *request = &group->requests[i];
		struct symbol_match known;

		if (i > 0 && request->key == request[-1].key)
			continue;
		if (cache && symbol_cache_find(cache, file, request->key, &from, &known))
			continue;
		queries[n].address = request->key;
		queries[n++].chain = QUERY_NO_CHAIN;
	}
	*ret_queries = queries;
	*ret_n = n;
	return 0;
}

/* False: no function is longer than 4 GB. A cold part in front of its function has no offset. */
static bool offset_of(const struct symbol_query *query, uint32_t *ret_offset)
{
	uint64_t offset = query->address - query->start;

	if (query->is_start && query->address < query->start)
		offset = 0;
	*ret_offset = (uint32_t)offset;
	return offset <= UINT32_MAX;
}

/* Adds the symbols that the queries found; gives one match for each query. */
static int make_matches(struct lookup *lookup, const struct symbol_query *queries, size_t n,
			const char *module, uint32_t flags, struct symbol_match **ret_matches)
{
	own(own_free) struct symbol_match *matches = calloc(n ? n : 1, sizeof(*matches));
	const char *name = NULL;
	uint64_t start = 0;
	uint32_t symbol = SYMBOL_NONE;

	if (!matches)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		matches[i].symbol = SYMBOL_NONE;
		matches[i].chain = queries[i].chain;
		if (!queries[i].name || !offset_of(&queries[i], &matches[i].offset))
			continue;
		if (queries[i].name != name || queries[i].start != start) {
			const struct symbol added = {
				.name = queries[i].name,
				.linkage_name = queries[i].linkage_name,
				.module = module,
				.flags = flags | (queries[i].is_start ? NAMES_FRAME_IDENTITY : 0)
			};
			int r = symbol_cache_add(lookup->cache, &added, &symbol);

			if (r < 0)
				return r;
			name = queries[i].name;
			start = queries[i].start;
		}
		matches[i].symbol = symbol;
	}
	*ret_matches = take_ptr(matches);
	return 0;
}

/* Sets the matches that have a symbol for all requests with the same key; both are sorted. */
static void set_matches(const struct lookup_group *group, const struct symbol_query *queries,
			const struct symbol_match *matches, size_t n)
{
	size_t at = 0;

	for (uint32_t i = 0; i < group->n; i++) {
		const struct lookup_request *request = &group->requests[i];

		while (at < n && queries[at].address < request->key)
			at++;
		if (at < n && queries[at].address == request->key &&
		    matches[at].symbol != SYMBOL_NONE)
			set_match(group, request, &matches[at]);
	}
}

static struct debuginfod *debuginfod_of(struct lookup *lookup)
{
	if (lookup->use_debuginfod && !lookup->debuginfod_tried) {
		lookup->debuginfod_tried = true;
		debuginfod_new(&lookup->debuginfod);
	}
	return lookup->debuginfod;
}

/*
 * Names that a debug file in a container gave to a file are not those of the file once it is shared
 * with others.
 */
static uint32_t key_of(const struct lookup *lookup, uint32_t id)
{
	bool shared;

	images_lock(lookup->images);
	shared = images_file_is_shared(lookup->images, id);
	images_unlock(lookup->images);
	return 2 * id + shared;
}

int file_lookup_open(struct lookup *lookup, const struct lookup_group *group,
		     struct file_lookup *ret_file)
{
	uint32_t id = group->requests[0].id;
	int r;

	*ret_file = FILE_LOOKUP_NONE;
	ret_file->group = *group;
	ret_file->id = id;
	ret_file->key = key_of(lookup, id);
	r = make_queries(group, lookup->cache, ret_file->key, &ret_file->queries, &ret_file->n);
	if (r < 0 || ret_file->n == 0)
		return r;
	images_lock(lookup->images);
	ret_file->fd = images_open_file(lookup->images, id);
	ret_file->path = images_file(lookup->images, id)->path;
	images_unlock(lookup->images);
	return 0;
}

int file_lookup_ask(struct lookup *lookup, struct file_lookup *file)
{
	const struct file_symbols_request request = {
		.readers = lookup->readers,
		.fd = file->fd,
		.path = file->path,
		.file = file->id,
		.places = &lookup->places,
		.pool = symbol_cache_pool(lookup->cache),
		.inlines = lookup->inlines,
	};

	if (file->fd < 0)
		return 0;
	lookup->places.debuginfod = debuginfod_of(lookup);
	return file_symbols_begin(&request, file->queries, file->n, &file->call);
}

int file_lookup_read(struct file_lookup *file)
{
	return file->fd < 0 ? 0 : file_symbols_end(&file->call);
}

int file_lookup_store(struct lookup *lookup, struct file_lookup *file)
{
	own(own_free) struct symbol_match *matches = NULL;
	size_t from = 0;
	int r = name_starts(symbol_cache_pool(lookup->cache), file->path ? file->path : "",
			    file->queries, file->n);

	if (r < 0)
		return r;
	r = make_matches(lookup, file->queries, file->n, NULL, 0, &matches);
	if (r < 0)
		return r;
	/* A file that could not be opened may be found through another process later. */
	r = file->fd < 0 ? 0
			 : symbol_cache_insert(lookup->cache, file->key, file->queries, matches,
					       file->n);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < file->group.n; i++) {
		const struct lookup_request *request = &file->group.requests[i];
		struct symbol_match match;

		if (symbol_cache_find(lookup->cache, file->key, request->key, &from, &match))
			set_match(&file->group, request, &match);
	}
	return 0;
}

void file_lookup_close(struct file_lookup *file)
{
	file_symbols_close(&file->call);
	own_fd(&file->fd);
	free(file->queries);
	*file = FILE_LOOKUP_NONE;
}

static int look_up_vdso(struct lookup *lookup, const struct lookup_group *group)
{
	own(own_free) struct symbol_query *queries = NULL;
	own(own_free) struct symbol_match *matches = NULL;
	const void *bytes;
	size_t size, n;
	int r;

	if (vdso_find(&bytes, &size) < 0)
		return 0;
	r = make_queries(group, NULL, 0, &queries, &n);
	if (r < 0)
		return r;
	r = file_symbols_find_memory(bytes, size, symbol_cache_pool(lookup->cache), queries, n);
	if (r == 0)
		r = name_starts(symbol_cache_pool(lookup->cache), "vdso", queries, n);
	if (r < 0)
		return r;
	r = make_matches(lookup, queries, n, NULL, 0, &matches);
	if (r < 0)
		return r;
	set_matches(group, queries, matches, n);
	return 0;
}

int sources_make_queries(struct process_request *request)
{
	return request->queries
		       ? 0
		       : make_queries(request->group, NULL, 0, &request->queries, &request->n);
}

/* Sets the matches of what a source named, and leaves the other queries for the next one. */
static int take_names(struct lookup *lookup, struct process_request *request)
{
	own(own_free) struct symbol_match *matches = NULL;
	struct symbol_query *queries = request->queries;
	size_t n = request->n;
	int r = make_matches(lookup, queries, n, request->module, request->flags, &matches);

	if (r < 0)
		return r;
	set_matches(request->group, queries, matches, n);
	request->n = 0;
	for (size_t i = 0; i < n; i++) {
		if (matches[i].symbol != SYMBOL_NONE)
			continue;
		queries[request->n] = queries[i];
		queries[request->n].name = queries[request->n].linkage_name = NULL;
		request->n++;
	}
	return 0;
}

static int look_up_process(struct lookup *lookup, const struct lookup_group *group)
{
	own(own_free) struct symbol_query *queries = NULL;
	struct process_request request = {
		.readers = lookup->readers,
		.refused = &lookup->refused,
		.images = lookup->images,
		.image = group->requests[0].id,
		.pool = symbol_cache_pool(lookup->cache),
		.group = group,
	};

	for (process_source *const *source = sources_of_processes; *source; source++) {
		int r;

		request.module = NULL;
		request.flags = 0;
		r = (*source)(&request);
		queries = request.queries;
		if (r < 0)
			return r;
		if (!queries)
			continue;
		r = take_names(lookup, &request);
		if (r < 0)
			return r;
		if (request.n == 0)
			break;
	}
	return 0;
}

int lookup_group(struct lookup *lookup, const struct lookup_group *group)
{
	switch ((enum lookup_scope)group->requests[0].scope) {
	case SCOPE_KERNEL:
		return look_up_kernel(lookup, group);
	case SCOPE_VDSO:
		return look_up_vdso(lookup, group);
	case SCOPE_PROCESS:
		return look_up_process(lookup, group);
	case SCOPE_FILE:
	case SCOPE_NONE:
		break;
	}
	return 0;
}
