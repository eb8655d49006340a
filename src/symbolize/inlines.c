// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize/inlines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "symbolize/answers.h"
#include "symbolize/inlines_internal.h"
#include "symbolize/placed_queries.h"

/* For one batch of a file: the child stops by itself after MAX_NS, and is killed GRACE_NS later. */
#define MAX_NS	  (5 * NS_PER_SECOND)
#define GRACE_NS  (2 * NS_PER_SECOND)
#define MAX_BYTES (3ull << 30)

int inlines_new(struct pool *pool, bool functions, bool lines, struct inlines **ret_inlines)
{
	struct inlines *inlines = calloc(1, sizeof(*inlines));

	if (!inlines)
		return -ENOMEM;
	inlines->pool = pool;
	inlines->functions = functions;
	inlines->lines = lines;
	*ret_inlines = inlines;
	return 0;
}

void inlines_free(struct inlines *inlines)
{
	if (!inlines)
		return;
	free(inlines->chains);
	free(inlines->frames);
	confined_free(inlines->readers);
	free(inlines);
}

void inlines_rest(struct inlines *inlines)
{
	if (inlines->readers)
		confined_retire(inlines->readers);
}

const struct inline_chain *inlines_chain(const struct inlines *inlines, uint32_t chain)
{
	return &inlines->chains[chain];
}

const struct inline_frame *inlines_frames(const struct inlines *inlines,
					  const struct inline_chain *chain)
{
	return &inlines->frames[chain->first];
}

int inlines_add_chain(struct inlines *inlines, const struct inline_frame *frames, uint32_t n,
		      uint32_t *ret_chain)
{
	if (inlines->n_chains > 0) {
		const struct inline_chain *last = &inlines->chains[inlines->n_chains - 1];

		if (last->n == n &&
		    memcmp(&inlines->frames[last->first], frames, n * sizeof(*frames)) == 0) {
			*ret_chain = inlines->n_chains - 1;
			return 0;
		}
	}
	if (grow(&inlines->chains, &inlines->chain_capacity, inlines->n_chains + 1ull) < 0 ||
	    grow(&inlines->frames, &inlines->frame_capacity, inlines->n_frames + (size_t)n) < 0)
		return -ENOMEM;
	memcpy(&inlines->frames[inlines->n_frames], frames, n * sizeof(*frames));
	inlines->chains[inlines->n_chains] = (struct inline_chain){ inlines->n_frames, n };
	inlines->n_frames += n;
	*ret_chain = inlines->n_chains++;
	return 0;
}

uint32_t inlines_n_missing(const struct inlines *inlines, const char **ret_file)
{
	*ret_file = inlines->missing ? inlines->missing : "";
	return inlines->n_missing;
}

uint32_t inlines_n_broken(const struct inlines *inlines)
{
	return inlines->n_broken;
}

/* What a child is asked: the addresses of the queries follow. */
struct question {
	uint64_t n;
	bool functions, lines;
};

/* What the child does. */
struct work {
	const struct inlines *inlines;
	const struct placed_queries *placed;
	struct byte_sink sink;
	uint32_t last; /* the chain that was sent last */
};

static void send_chain(void *context, uint32_t query, uint32_t chain)
{
	struct work *work = context;

	inlines_send(&work->sink, work->inlines, (uint32_t)work->placed->origins[query], chain,
		     chain == work->last);
	work->last = chain;
}

static int read_placed(const struct confined_job *job, struct inlines *inlines,
		       const struct placed_queries *placed)
{
	struct work work = { .inlines = inlines,
			     .placed = placed,
			     .sink = confined_sink(job),
			     .last = QUERY_NO_CHAIN };
	const struct inlines_job inlines_job = {
		.inlines = inlines,
		.queries = placed->queries,
		.n = placed->n,
		.end_ns = monotonic_ns() + MAX_NS,
		.done = send_chain,
		.context = &work,
	};
	int r = inlines_read(&inlines_job, job->fds[0]);

	if (r == 0 || r == -ENODATA)
		inlines_send_end(&work.sink, inlines);
	return r == -ENODATA ? 0 : r;
}

/* Runs in the child: with the file that has the DWARF, and the one that is mapped. */
static int read_dwarf(const struct confined_job *job)
{
	const struct question *question = job->request;
	own(own_pool_free) struct pool *pool = NULL;
	own(own_inlines_free) struct inlines *inlines = NULL;
	own(own_elf_file_close) struct elf_file *mapped = NULL;
	own(placed_queries_free) struct placed_queries placed = PLACED_QUERIES_NONE;
	own(own_free) struct symbol_query *queries =
		answers_queries((const void *)(question + 1), question->n);
	int r = queries ? pool_new(&pool) : -ENOMEM;

	if (r == 0)
		r = inlines_new(pool, question->functions, question->lines, &inlines);
	if (r == 0)
		r = elf_file_open(job->fds[1], &mapped);
	if (r == 0)
		r = placed_queries_make(mapped, queries, question->n, &placed);
	return r < 0 ? r : read_placed(job, inlines, &placed);
}

void inlines_set_waiting(struct inlines *inlines, void (*waiting)(void *context), void *context)
{
	inlines->waiting = waiting;
	inlines->waiting_context = context;
}

/* libdw opens the files that dwz has moved shared DWARF to, and takes more memory than others. */
static int make_readers(struct inlines *inlines)
{
	struct confined_limits limits = confined_limits_default;
	int r = 0;

	limits.call_ns = MAX_NS + GRACE_NS;
	limits.bytes = MAX_BYTES;
	limits.may_open = true;
	if (!inlines->readers)
		r = confined_new(&limits, &inlines->readers);
	if (r == 0)
		confined_set_waiting(inlines->readers, inlines->waiting, inlines->waiting_context);
	return r;
}

static int find(struct inlines *inlines, const int fds[2], struct symbol_query *queries, size_t n)
{
	own(own_free) uint64_t *addresses = answers_addresses(queries, n);
	struct question question = { n, inlines->functions, inlines->lines };
	const struct iovec parts[] = { { &question, sizeof(question) },
				       { addresses, n * sizeof(*addresses) } };
	const struct confined_call call = { .work = read_dwarf,
					    .owner = confined_owner_of_all(fds, 2),
					    .fds = fds,
					    .n_fds = 2,
					    .request = parts,
					    .n_parts = 2 };
	struct confined_child *child;
	struct byte_source source;
	int r = addresses ? make_readers(inlines) : -ENOMEM, end;

	if (r < 0)
		return r;
	r = confined_begin(inlines->readers, &call, &child);
	if (r < 0)
		return r;
	source = confined_source(child);
	r = inlines_receive(inlines, &source, queries, n);
	end = confined_finish(child);
	return r < 0 ? r : end;
}

int inlines_find(struct inlines *inlines, int fd, int mapped, struct symbol_query *queries,
		 size_t n)
{
	const int fds[] = { fd, mapped };
	int r;

	if (n > UINT32_MAX)
		return -ENOMEM;
	r = find(inlines, fds, queries, n);
	if (r < 0)
		inlines->n_broken++;
	return r == -ENOMEM ? r : 0;
}
