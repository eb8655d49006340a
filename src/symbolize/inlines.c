// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize/inlines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "symbolize/inlines_internal.h"

/* For one batch of a file: the child stops by itself after MAX_NS, and is killed GRACE_NS later. */
#define MAX_NS	 (5 * NS_PER_SECOND)
#define GRACE_NS (2 * NS_PER_SECOND)

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
	free(inlines);
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

uint32_t inlines_n_broken(const struct inlines *inlines)
{
	return inlines->n_broken;
}

/* What the child does. */
struct work {
	struct inlines_job job;
	FILE *output;
	uint32_t last; /* the chain that was sent last */
};

static void send_chain(void *context, uint32_t query, uint32_t chain)
{
	struct work *work = context;

	inlines_send(work->output, work->job.inlines, query, chain, chain == work->last);
	work->last = chain;
}

/* Runs in the child. */
static void read_dwarf(void *context, int fd, FILE *output)
{
	struct work *work = context;
	int r;

	/* Chains of earlier files must not be taken for the last one: it has not been sent. */
	work->job.inlines->n_chains = 0;
	work->job.inlines->n_frames = 0;
	work->output = output;
	r = inlines_read(&work->job, fd);
	if (r == 0 || r == -ENODATA)
		inlines_send_end(output);
}

void inlines_set_waiting(struct inlines *inlines, void (*waiting)(void *context), void *context)
{
	inlines->waiting = waiting;
	inlines->waiting_context = context;
}

static int find(struct inlines *inlines, int fd, struct symbol_query *queries, size_t n)
{
	own(confined_end) struct confined child = CONFINED_NONE;
	struct work work = {
		.job = {
			.inlines = inlines,
			.queries = queries,
			.n = n,
			.end_ns = monotonic_ns() + MAX_NS,
			.done = send_chain,
			.context = &work,
		},
		.last = QUERY_NO_CHAIN,
	};
	int r = confined_start(read_dwarf, &work, fd, &child);

	if (r < 0)
		return r;
	child.waiting = inlines->waiting;
	child.waiting_context = inlines->waiting_context;
	return inlines_receive(inlines, &child, queries, n, work.job.end_ns + GRACE_NS);
}

int inlines_find(struct inlines *inlines, int fd, struct symbol_query *queries, size_t n)
{
	int r;

	if (n > UINT32_MAX)
		return -ENOMEM;
	r = find(inlines, fd, queries, n);
	if (r < 0)
		inlines->n_broken++;
	return r == -ENOMEM ? r : 0;
}
