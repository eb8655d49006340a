/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files inlines*.c share: the chains, the reader of DWARF, which runs in a confined child,
 * and the way from there to us. For them and for fuzzing; all others include inlines.h.
 */
#ifndef STACKTALLY_SYMBOLIZE_INLINES_INTERNAL_H
#define STACKTALLY_SYMBOLIZE_INLINES_INTERNAL_H

#include <stdio.h>

#include "symbolize/confined.h"
#include "symbolize/demangle.h"
#include "symbolize/inlines.h"

struct inlines {
	struct pool *pool;
	bool functions, lines;
	struct inline_chain *chains;
	uint32_t n_chains, chain_room;
	struct inline_frame *frames;
	uint32_t n_frames, frame_room;
	uint32_t n_broken;
	void (*waiting)(void *context); /* or NULL */
	void *waiting_context;
	uint64_t received; /* bytes of strings, of all files */
	char text[DEMANGLE_SIZE];
};

/* CLOCK_MONOTONIC */
uint64_t inlines_now_ns(void);

/* Adds the chain; one that is equal to the last is the same. 0 or -ENOMEM. */
int inlines_add_chain(struct inlines *inlines, const struct inline_frame *frames, uint32_t n,
		      uint32_t *ret_chain);

/*
 * Reads DWARF right here, trusting libdw, and calls done() for each query that got a chain; stops
 * at `end_ns`. 0 or a negative errno; what was done before stands.
 */
int inlines_read(struct inlines *inlines, int fd, struct symbol_query *queries, size_t n,
		 uint64_t end_ns,
		 void (*done)(void *context, const struct inlines *inlines, uint32_t query,
			      uint32_t chain),
		 void *context);

/* The child's end of the way: the chain of a query, or that it has the chain of the one before. */
void inlines_send(FILE *output, const struct inlines *inlines, uint32_t query, uint32_t chain,
		  bool again);
/* All was read; without it, the reader was stopped by something. */
void inlines_send_end(FILE *output);

/*
 * Our end: whoever wrote the result may have been taken over. 0 when the end was sent, -ENODATA
 * when not; -EPROTO for what inlines_send() does not write, -ETIMEDOUT, -ENOMEM; what was received
 * before stands.
 */
int inlines_receive(struct inlines *inlines, struct confined *child, struct symbol_query *queries,
		    size_t n, uint64_t end_ns);

#endif
