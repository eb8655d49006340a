// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize/inlines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "symbolize/inlines_internal.h"

#define MAX_NS	 5000000000ull /* for one file and batch; what is left has no chains */
#define GRACE_NS 2000000000ull /* then it is stopped */

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

uint64_t inlines_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static int grow(void **array, uint32_t *room, uint32_t need, size_t size)
{
	uint32_t wanted = *room ? *room : 256;
	void *grown;

	if (need <= *room)
		return 0;
	while (wanted < need) {
		if (wanted > UINT32_MAX / 4)
			return -ENOMEM;
		wanted *= 2;
	}
	grown = realloc(*array, wanted * size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*room = wanted;
	return 0;
}

int inlines_add_chain(struct inlines *inlines, const struct inline_frame *frames, uint32_t n,
		      uint32_t *ret_chain)
{
	int r;

	if (inlines->n_chains > 0) {
		const struct inline_chain *last = &inlines->chains[inlines->n_chains - 1];

		if (last->n == n &&
		    memcmp(&inlines->frames[last->first], frames, n * sizeof(*frames)) == 0) {
			*ret_chain = inlines->n_chains - 1;
			return 0;
		}
	}
	r = grow((void **)&inlines->chains, &inlines->chain_room, inlines->n_chains + 1,
		 sizeof(*inlines->chains));
	if (!r)
		r = grow((void **)&inlines->frames, &inlines->frame_room, inlines->n_frames + n,
			 sizeof(*inlines->frames));
	if (r)
		return r;
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

/* What the child is to do. */
struct work {
	struct inlines *inlines;
	struct symbol_query *queries;
	size_t n;
	uint64_t end_ns;
	FILE *output;
	uint32_t last; /* chain that was sent */
};

static void send_chain(void *context, const struct inlines *inlines, uint32_t query, uint32_t chain)
{
	struct work *work = context;

	inlines_send(work->output, inlines, query, chain, chain == work->last);
	work->last = chain;
}

/* In the child. */
static void read_dwarf(void *context, int fd, FILE *output)
{
	struct work *work = context;
	int r;

	/* Its own chains only: the parent's last is not known on the way. */
	work->inlines->n_chains = 0;
	work->inlines->n_frames = 0;
	work->output = output;
	r = inlines_read(work->inlines, fd, work->queries, work->n, work->end_ns, send_chain, work);
	if (r == 0 || r == -ENODATA)
		inlines_send_end(output);
}

void inlines_tell_waiting(struct inlines *inlines, void (*waiting)(void *context), void *context)
{
	inlines->waiting = waiting;
	inlines->waiting_context = context;
}

int inlines_find(struct inlines *inlines, int fd, struct symbol_query *queries, size_t n)
{
	own(confined_end) struct confined child = CONFINED_NONE;
	struct work work = { .inlines = inlines,
			     .queries = queries,
			     .n = n,
			     .end_ns = inlines_now_ns() + MAX_NS,
			     .last = QUERY_NO_CHAIN };
	int r;

	if (n > UINT32_MAX)
		return -ENOMEM;
	r = confined_start(read_dwarf, &work, fd, &child);
	child.waiting = inlines->waiting;
	child.waiting_context = inlines->waiting_context;
	if (!r) /* it stops by itself in time, unless something is wrong */
		r = inlines_receive(inlines, &child, queries, n, work.end_ns + GRACE_NS);
	if (r)
		inlines->n_broken++;
	return r == -ENOMEM ? r : 0;
}
