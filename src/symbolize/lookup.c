/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/lookup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "process/moved_text.h"
#include "symbolize/address.h"
#include "symbolize/lookup_internal.h"

/* The addresses of one call, and the requests that were made of them. */
struct batch {
	const struct tally_address *addresses;
	struct symbol_match *matches;
	struct lookup_request *requests;
	uint32_t n_requests;
};

static void batch_free(struct batch *batch)
{
	free(batch->requests);
}

/* Sets the symbol of what has the same one at all addresses. */
static struct lookup_request request_for(const struct lookup *lookup,
					 const struct tally_address *address,
					 struct symbol_match *match)
{
	uint64_t at = address_to_look_up(address);
	struct lookup_request request = { .key = at, .scope = SCOPE_NONE };
	const struct mapping *mapping;

	if (address->flags & TALLY_ADDRESS_SCRIPT)
		return request;
	if (address_is_kernel(address)) {
		request.scope = SCOPE_KERNEL;
		return request;
	}
	if (address_is_vsyscall(address)) {
		match->symbol = lookup->vsyscall_symbols[(at - VSYSCALL_PAGE) / VSYSCALL_SIZE];
		return request;
	}
	mapping = images_find(lookup->images, address->image, at);
	if (!mapping)
		return request;
	switch (mapping->kind) {
	case MAPPING_FILE:
		request.scope = SCOPE_FILE;
		request.id = mapping->file;
		request.key = at - mapping->start + mapping->offset;
		break;
	case MAPPING_VDSO:
		request.scope = SCOPE_VDSO;
		request.key = at - mapping->start;
		break;
	case MAPPING_ANONYMOUS:
		request.scope = SCOPE_PROCESS;
		request.id = address->image;
		match->symbol = lookup->jit_symbol;
		break;
	case MAPPING_SPECIAL:
		if (strcmp(mapping->name, MOVED_TEXT_PACKED) == 0)
			match->symbol = lookup->packed_symbol;
		break;
	}
	return request;
}

static int compare_keys(const void *left, const void *right)
{
	const struct lookup_request *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return 0;
}

#define N_SCOPES (SCOPE_PROCESS + 1)

/* Puts the requests of each scope and id together, by counting them. 0 or -ENOMEM. */
static int gather_groups(struct batch *batch)
{
	own(own_free) struct lookup_request *sorted = NULL;
	own(own_free) uint32_t *places = NULL;
	size_t first[N_SCOPES + 1] = { 0 }; /* the scope's first id in `places` */
	uint32_t place = 0;

	for (uint32_t i = 0; i < batch->n_requests; i++) {
		const struct lookup_request *request = &batch->requests[i];
		size_t *n = &first[request->scope + 1];

		*n = *n > request->id + 1ull ? *n : request->id + 1ull;
	}
	for (uint32_t scope = 0; scope < N_SCOPES; scope++)
		first[scope + 1] += first[scope];
	places = calloc(first[N_SCOPES] + 1, sizeof(*places));
	sorted = malloc((batch->n_requests + 1ull) * sizeof(*sorted));
	if (!places || !sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < batch->n_requests; i++)
		places[first[batch->requests[i].scope] + batch->requests[i].id]++;
	for (size_t i = 0; i < first[N_SCOPES]; i++) {
		uint32_t n = places[i];

		places[i] = place;
		place += n;
	}
	for (uint32_t i = 0; i < batch->n_requests; i++) {
		const struct lookup_request *request = &batch->requests[i];

		sorted[places[first[request->scope] + request->id]++] = *request;
	}
	free(batch->requests);
	batch->requests = take_ptr(sorted);
	return 0;
}

/* The end of the group that begins with the request `first`. */
static uint32_t group_end(const struct batch *batch, uint32_t first)
{
	const struct lookup_request *request = &batch->requests[first];
	uint32_t end = first + 1;

	while (end < batch->n_requests && batch->requests[end].scope == request->scope &&
	       batch->requests[end].id == request->id)
		end++;
	return end;
}

static void report_progress(void *context)
{
	struct lookup *lookup = context;

	if (lookup->progress)
		lookup->progress(lookup->progress_context, lookup->n_done, lookup->n_groups);
}

/* The group that begins with the request `first`, which is sorted now. */
static struct lookup_group group_at(const struct batch *batch, uint32_t first)
{
	struct lookup_group group = { .addresses = batch->addresses,
				      .matches = batch->matches,
				      .requests = &batch->requests[first],
				      .n = group_end(batch, first) - first };

	qsort(&batch->requests[first], group.n, sizeof(*group.requests), compare_keys);
	return group;
}

/*
 * The groups of files, in [first, end). While a child reads one file, the next is made ready, and
 * the names of the one before are stored.
 */
static int look_up_files(struct lookup *lookup, const struct batch *batch, uint32_t first,
			 uint32_t end)
{
	own(file_lookup_close) struct file_lookup file = FILE_LOOKUP_NONE;
	own(file_lookup_close) struct file_lookup next = FILE_LOOKUP_NONE;
	struct lookup_group group = group_at(batch, first);
	int r = file_lookup_open(lookup, &group, &file);

	if (r == 0)
		r = file_lookup_ask(lookup, &file);
	while (r == 0 && first < end) {
		report_progress(lookup);
		first += file.group.n;
		if (first < end) {
			group = group_at(batch, first);
			r = file_lookup_open(lookup, &group, &next);
		}
		if (r == 0)
			r = file_lookup_read(&file);
		if (r == 0)
			r = file_lookup_ask(lookup, &next);
		if (r == 0)
			r = file_lookup_store(lookup, &file);
		file_lookup_close(&file);
		file = next;
		next = FILE_LOOKUP_NONE;
		lookup->n_done++;
	}
	return r;
}

/* The group at `first`, or, if that is of a file, all groups of files. Gives their end. */
static int look_up_next(struct lookup *lookup, const struct batch *batch, uint32_t first,
			uint32_t *ret_end)
{
	struct lookup_group group;
	uint32_t end = first;
	int r;

	while (end < batch->n_requests && batch->requests[end].scope == SCOPE_FILE)
		end++;
	if (end > first) {
		*ret_end = end;
		return look_up_files(lookup, batch, first, end);
	}
	group = group_at(batch, first);
	report_progress(lookup);
	r = lookup_group(lookup, &group);
	lookup->n_done++;
	*ret_end = first + group.n;
	return r;
}

static int look_up_requests(struct lookup *lookup, struct batch *batch)
{
	int r = gather_groups(batch);

	lookup->n_groups = lookup->n_done = 0;
	if (lookup->inlines)
		inlines_set_waiting(lookup->inlines, report_progress, lookup);
	for (uint32_t at = 0; r == 0 && at < batch->n_requests; at = group_end(batch, at))
		lookup->n_groups++;
	for (uint32_t at = 0; r == 0 && at < batch->n_requests;)
		r = look_up_next(lookup, batch, at, &at);
	return r;
}

static bool has_symbol(const struct lookup *lookup, const struct symbol_match *match)
{
	return match->symbol != SYMBOL_NONE &&
	       !(symbol_cache_symbol(lookup->cache, match->symbol)->flags & NAMES_FRAME_IDENTITY);
}

/*
 * Makes requests to the processes for the addresses of files that have no symbol: .NET maps code
 * that was compiled ahead of time from files without ELF symbols, and names it in its perf map.
 */
static void request_unnamed(const struct lookup *lookup, struct batch *batch)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < batch->n_requests; i++) {
		struct lookup_request request = batch->requests[i];
		const struct tally_address *address = &batch->addresses[request.index];

		if (request.scope != SCOPE_FILE ||
		    has_symbol(lookup, &batch->matches[request.index]))
			continue;
		request.scope = SCOPE_PROCESS;
		request.id = address->image;
		request.key = address_to_look_up(address);
		batch->requests[n++] = request;
	}
	batch->n_requests = n;
}

int lookup_resolve(struct lookup *lookup, const struct tally_address *addresses, uint32_t n,
		   struct symbol_match *matches)
{
	own(batch_free) struct batch batch = { addresses, matches, NULL, n };
	int r;

	if (n > LOOKUP_MAX)
		return -EINVAL;
	batch.requests = malloc((n ? n : 1) * sizeof(*batch.requests));
	if (!batch.requests)
		return -ENOMEM;
	images_lock(lookup->images);
	for (uint32_t i = 0; i < n; i++) {
		struct lookup_request *request = &batch.requests[i];

		matches[i] = (struct symbol_match){ SYMBOL_NONE, 0, QUERY_NO_CHAIN };
		*request = request_for(lookup, &addresses[i], &matches[i]);
		request->index = i;
	}
	images_unlock(lookup->images);
	r = look_up_requests(lookup, &batch);
	if (r < 0)
		return r;
	request_unnamed(lookup, &batch);
	return look_up_requests(lookup, &batch);
}
