/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolize/lookup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbolize/file_symbols.h"
#include "symbolize/frame_builder.h"
#include "symbolize/jitdump.h"
#include "symbolize/perfmap.h"
#include "symbolize/vdso.h"

/* Which source is to answer for an address. */
enum source {
	SOURCE_NOTHING, /* nothing is mapped there */
	SOURCE_KERNEL,
	SOURCE_FILE, /* group: file id; key: offset in it */
	SOURCE_VDSO, /* key: offset in it */
	SOURCE_JIT,  /* group: image id; key: address */
};

struct request {
	uint64_t key;
	uint32_t group;
	uint32_t id : 29; /* index in the batch; more addresses take several batches */
	uint32_t source : 3;
};

/* The addresses of one call while they are being answered. */
struct batch {
	const struct tally_address *addresses;
	uint32_t n, n_requests;
	struct request *requests;
	struct answer *answers; /* one for each address */
};

static void request_for(const struct lookup *lookup, const struct tally_address *address,
			struct request *request)
{
	uint64_t at = lookup_address(address);
	const struct mapping *mapping;

	request->group = 0;
	request->key = at;
	request->source = SOURCE_NOTHING;
	if (is_kernel_address(address)) {
		request->source = SOURCE_KERNEL;
		return;
	}
	mapping = images_find(lookup->images, address->image, at);
	if (!mapping)
		return;
	switch (mapping->kind) {
	case MAPPING_FILE:
		request->source = SOURCE_FILE;
		request->group = mapping->file;
		request->key = at - mapping->start + mapping->offset;
		break;
	case MAPPING_VDSO:
		request->source = SOURCE_VDSO;
		request->key = at - mapping->start;
		break;
	case MAPPING_ANONYMOUS:
		request->source = SOURCE_JIT;
		request->group = address->image;
		break;
	case MAPPING_SPECIAL:
		break;
	}
}

static int compare_requests(const void *left, const void *right)
{
	const struct request *a = left, *b = right;

	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return 0;
}

static void answer(const struct batch *batch, const struct request *request,
		   const struct answer *found)
{
	const struct tally_address *address = &batch->addresses[request->id];
	struct answer *to = &batch->answers[request->id];

	*to = *found;
	if (to->symbol != ANSWER_NONE)
		to->offset += (uint32_t)(address->address - lookup_address(address));
}

static int answer_kernel(struct lookup *lookup, const struct batch *batch,
			 const struct request *requests, uint32_t n)
{
	struct answer found = { .symbol = ANSWER_NONE, .chain = QUERY_NO_CHAIN };
	uint64_t start = 0;

	lookup->met_kernel = true;
	for (uint32_t i = 0; i < n; i++) {
		struct kernel_symbol symbol;

		if (!kernel_names_find(lookup->kernel, requests[i].key, &symbol))
			continue;
		if (found.symbol == ANSWER_NONE || symbol.start != start) {
			const char *name = pool_string(answers_pool(lookup->answers), symbol.name);
			int r;

			if (!name)
				return -ENOMEM;
			r = answers_add_symbol(lookup->answers, name, symbol.module,
					       NAMES_FRAME_KERNEL, &found.symbol);
			if (r)
				return r;
			start = symbol.start;
		}
		found.offset = (uint32_t)(requests[i].key - start);
		answer(batch, &requests[i], &found);
	}
	return 0;
}

/* The distinct keys of the requests as queries; with `file`, only those not known yet. */
static int make_queries(const struct lookup *lookup, const struct request *requests, uint32_t n,
			bool file, struct symbol_query **ret_queries, size_t *ret_n)
{
	struct symbol_query *queries = calloc(n, sizeof(*queries));
	size_t used = 0, from = 0;

	if (!queries)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct answer known;

		if (i > 0 && requests[i].key == requests[i - 1].key)
			continue;
		if (file && answers_known(lookup->answers, requests[i].group, requests[i].key,
					  &from, &known))
			continue;
		queries[used].address = requests[i].key;
		queries[used++].chain = QUERY_NO_CHAIN;
	}
	*ret_queries = queries;
	*ret_n = used;
	return 0;
}

/* Makes a symbol of each name that was found. */
static int make_answers(struct lookup *lookup, const struct symbol_query *queries, size_t n,
			const char *module, uint32_t flags, struct answer **ret_found)
{
	own(own_free) struct answer *found = calloc(n ? n : 1, sizeof(*found));
	const char *name = NULL;
	uint64_t start = 0;
	uint32_t symbol = ANSWER_NONE;

	if (!found)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		found[i].symbol = ANSWER_NONE;
		found[i].chain = queries[i].chain;
		/* No function is that long. */
		if (!queries[i].name || queries[i].address - queries[i].start > UINT32_MAX)
			continue;
		if (queries[i].name != name || queries[i].start != start) {
			int r = answers_add_symbol(lookup->answers, queries[i].name, module, flags,
						   &symbol);

			if (r)
				return r;
			name = queries[i].name;
			start = queries[i].start;
		}
		found[i].symbol = symbol;
		found[i].offset = (uint32_t)(queries[i].address - start);
	}
	*ret_found = take_ptr(found);
	return 0;
}

/* Hands the answers on to all requests of the same key; both are sorted. */
static void spread(const struct batch *batch, const struct request *requests, uint32_t n,
		   const struct symbol_query *queries, const struct answer *found, size_t n_queries)
{
	size_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		while (at < n_queries && queries[at].address < requests[i].key)
			at++;
		/* What was not found keeps the answer it has: generated code is that at least. */
		if (at < n_queries && queries[at].address == requests[i].key &&
		    found[at].symbol != ANSWER_NONE)
			answer(batch, &requests[i], &found[at]);
	}
}

static struct debuginfod *debuginfod_of(struct lookup *lookup)
{
	if (lookup->ask_debuginfod && !lookup->debuginfod_tried) {
		lookup->debuginfod_tried = true;
		debuginfod_new(&lookup->debuginfod);
	}
	return lookup->debuginfod;
}

static int answer_file(struct lookup *lookup, const struct batch *batch,
		       const struct request *requests, uint32_t n)
{
	own(own_free) struct symbol_query *queries = NULL;
	own(own_free) struct answer *found = NULL;
	own(own_fd) int fd = -1;
	uint32_t file = requests[0].group;
	const char *path = NULL;
	size_t n_queries, from = 0;
	int r = make_queries(lookup, requests, n, true, &queries, &n_queries);

	if (r)
		return r;
	if (n_queries > 0) {
		images_lock(lookup->images);
		fd = images_open_file(lookup->images, file);
		path = images_file(lookup->images, file)->path;
		images_unlock(lookup->images);
		lookup->places.debuginfod = debuginfod_of(lookup);
	}
	if (fd >= 0) {
		const struct file_symbols_request request = {
			.fd = fd,
			.path = path,
			.places = &lookup->places,
			.pool = answers_pool(lookup->answers),
			.inlines = lookup->inlines,
		};

		r = file_symbols_find(&request, queries, n_queries);
	}
	if (!r)
		r = make_answers(lookup, queries, n_queries, NULL, 0, &found);
	if (!r)
		r = answers_keep(lookup->answers, file, queries, found, n_queries);
	for (uint32_t i = 0; !r && i < n; i++) {
		struct answer known;

		if (answers_known(lookup->answers, file, requests[i].key, &from, &known))
			answer(batch, &requests[i], &known);
	}
	return r;
}

static int answer_vdso(struct lookup *lookup, const struct batch *batch,
		       const struct request *requests, uint32_t n)
{
	own(own_free) struct symbol_query *queries = NULL;
	own(own_free) struct answer *found = NULL;
	const void *image;
	size_t size, n_queries;
	int r;

	if (vdso_image(&image, &size))
		return 0;
	r = make_queries(lookup, requests, n, false, &queries, &n_queries);
	if (!r)
		r = file_symbols_find_memory(image, size, answers_pool(lookup->answers), queries,
					     n_queries);
	if (!r)
		r = make_answers(lookup, queries, n_queries, NULL, 0, &found);
	if (!r)
		spread(batch, requests, n, queries, found, n_queries);
	return r;
}

/* What one file of the process about its generated code tells. */
static int answer_from_jit_file(struct lookup *lookup, const struct batch *batch,
				const struct request *requests, uint32_t n, bool dump)
{
	own(own_free) struct symbol_query *queries = NULL;
	own(own_free) struct answer *found = NULL;
	const char *module;
	own(own_fd) int fd = -1;
	size_t n_queries;
	char text[64];
	pid_t tgid;
	int r;

	images_lock(lookup->images);
	fd = images_open_jit(lookup->images, requests[0].group,
			     dump ? JIT_FILE_JITDUMP : JIT_FILE_PERF_MAP);
	tgid = images_tgid(lookup->images, requests[0].group);
	images_unlock(lookup->images);
	if (fd < 0)
		return 0;
	snprintf(text, sizeof(text), dump ? "[jit-%d.dump]" : "[perf-%d.map]", (int)tgid);
	module = pool_string(answers_pool(lookup->answers), text);
	if (!module)
		return -ENOMEM;
	r = make_queries(lookup, requests, n, false, &queries, &n_queries);
	if (r)
		return r;
	/* A file that cannot be read to its end has answered what was before. */
	r = dump ? jitdump_find(fd, queries, n_queries, answers_pool(lookup->answers))
		 : perfmap_find(fd, queries, n_queries, answers_pool(lookup->answers));
	if (r == -ENOMEM)
		return r;
	r = make_answers(lookup, queries, n_queries, module, NAMES_FRAME_JIT, &found);
	if (r)
		return r;
	for (size_t i = 0; i < n_queries; i++)
		found[i].chain = QUERY_NO_CHAIN;
	spread(batch, requests, n, queries, found, n_queries);
	return 0;
}

/* Who writes both has the same in both. */
static int answer_jit(struct lookup *lookup, const struct batch *batch,
		      const struct request *requests, uint32_t n)
{
	int r = answer_from_jit_file(lookup, batch, requests, n, true);

	return r ? r : answer_from_jit_file(lookup, batch, requests, n, false);
}

static int answer_group(struct lookup *lookup, const struct batch *batch,
			const struct request *requests, uint32_t n)
{
	switch ((enum source)requests[0].source) {
	case SOURCE_KERNEL:
		return answer_kernel(lookup, batch, requests, n);
	case SOURCE_FILE:
		return answer_file(lookup, batch, requests, n);
	case SOURCE_VDSO:
		return answer_vdso(lookup, batch, requests, n);
	case SOURCE_JIT:
		return answer_jit(lookup, batch, requests, n);
	case SOURCE_NOTHING:
		break;
	}
	return 0;
}

/* Where the requests end that the source of the first one answers. */
static uint32_t group_end(const struct batch *batch, uint32_t first)
{
	const struct request *request = &batch->requests[first];
	uint32_t end = first + 1;

	while (end < batch->n_requests && batch->requests[end].source == request->source &&
	       batch->requests[end].group == request->group)
		end++;
	return end;
}

static void tell_progress(void *context)
{
	struct lookup *lookup = context;

	if (lookup->progress)
		lookup->progress(lookup->progress_context, lookup->n_done, lookup->n_groups);
}

static int answer_requests(struct lookup *lookup, struct batch *batch)
{
	int r = 0;

	lookup->n_groups = lookup->n_done = 0;
	if (lookup->inlines)
		inlines_tell_waiting(lookup->inlines, tell_progress, lookup);

	qsort(batch->requests, batch->n_requests, sizeof(*batch->requests), compare_requests);
	for (uint32_t first = 0; first < batch->n_requests; first = group_end(batch, first))
		lookup->n_groups++;
	for (uint32_t first = 0, end; !r && first < batch->n_requests; first = end) {
		end = group_end(batch, first);
		tell_progress(lookup);
		r = answer_group(lookup, batch, &batch->requests[first], end - first);
		lookup->n_done++;
	}
	return r;
}

/* Code compiled ahead of time is mapped from files that have no ELF symbols for it: .NET's. */
static void request_jit_for_rest(struct batch *batch)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < batch->n_requests; i++) {
		struct request request = batch->requests[i];
		const struct tally_address *address = &batch->addresses[request.id];

		if (request.source != SOURCE_FILE ||
		    batch->answers[request.id].symbol != ANSWER_NONE)
			continue;
		request.source = SOURCE_JIT;
		request.group = address->image;
		request.key = lookup_address(address);
		batch->requests[used++] = request;
	}
	batch->n_requests = used;
}

int lookup_answer(struct lookup *lookup, const struct tally_address *addresses, uint32_t n,
		  struct answer *answers)
{
	own(own_free) struct request *requests = malloc((n ? n : 1) * sizeof(*requests));
	struct batch batch = { addresses, n, n, requests, answers };
	int r;

	if (n > LOOKUP_MAX)
		return -EINVAL;
	if (!requests)
		return -ENOMEM;
	images_lock(lookup->images);
	for (uint32_t i = 0; i < n; i++) {
		request_for(lookup, &addresses[i], &requests[i]);
		requests[i].id = i;
		answers[i] = (struct answer){ ANSWER_NONE, 0, QUERY_NO_CHAIN };
		if (requests[i].source == SOURCE_JIT)
			answers[i].symbol = lookup->jit_symbol;
	}
	images_unlock(lookup->images);
	r = answer_requests(lookup, &batch);
	if (r)
		return r;
	request_jit_for_rest(&batch);
	return answer_requests(lookup, &batch);
}
