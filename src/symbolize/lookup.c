/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/lookup.h"

#include <errno.h>
#include <stdlib.h>

#include "symbolize/address.h"
#include "symbolize/lookup_internal.h"

/* The addresses of one call, and the requests that were made of them. */
struct batch {
	const struct tally_address *addresses;
	struct symbol_match *matches;
	struct lookup_request *requests;
	uint32_t n_requests;
};

static struct lookup_request request_for(const struct lookup *lookup,
					 const struct tally_address *address)
{
	uint64_t at = address_to_look_up(address);
	struct lookup_request request = { .key = at, .scope = SCOPE_NONE };
	const struct mapping *mapping;

	if (address->flags & TALLY_ADDRESS_CODE)
		return request;
	if (address_is_kernel(address)) {
		request.scope = SCOPE_KERNEL;
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
		break;
	case MAPPING_SPECIAL:
		break;
	}
	return request;
}

static int compare_requests(const void *left, const void *right)
{
	const struct lookup_request *a = left, *b = right;

	if (a->scope != b->scope)
		return a->scope < b->scope ? -1 : 1;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
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

static int look_up_requests(struct lookup *lookup, struct batch *batch)
{
	lookup->n_groups = lookup->n_done = 0;
	if (lookup->inlines)
		inlines_set_waiting(lookup->inlines, report_progress, lookup);
	qsort(batch->requests, batch->n_requests, sizeof(*batch->requests), compare_requests);
	for (uint32_t first = 0; first < batch->n_requests; first = group_end(batch, first))
		lookup->n_groups++;
	for (uint32_t first = 0, end; first < batch->n_requests; first = end) {
		struct lookup_group group = {
			.addresses = batch->addresses,
			.matches = batch->matches,
			.requests = &batch->requests[first],
		};
		int r;

		end = group_end(batch, first);
		group.n = end - first;
		report_progress(lookup);
		r = lookup_group(lookup, &group);
		if (r < 0)
			return r;
		lookup->n_done++;
	}
	return 0;
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
	own(own_free) struct lookup_request *requests = malloc((n ? n : 1) * sizeof(*requests));
	struct batch batch = { addresses, matches, requests, n };
	int r;

	if (n > LOOKUP_MAX)
		return -EINVAL;
	if (!requests)
		return -ENOMEM;
	images_lock(lookup->images);
	for (uint32_t i = 0; i < n; i++) {
		requests[i] = request_for(lookup, &addresses[i]);
		requests[i].index = i;
		matches[i] = (struct symbol_match){ SYMBOL_NONE, 0, QUERY_NO_CHAIN };
		if (requests[i].scope == SCOPE_PROCESS)
			matches[i].symbol = lookup->jit_symbol;
	}
	images_unlock(lookup->images);
	r = look_up_requests(lookup, &batch);
	if (r < 0)
		return r;
	request_unnamed(lookup, &batch);
	return look_up_requests(lookup, &batch);
}
