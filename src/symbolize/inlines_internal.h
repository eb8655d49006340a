/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files inlines*.c share, and fuzzers: inlines.c keeps chains and starts the child,
 * inlines_dwarf.c reads DWARF there, inlines_pipe.c sends the chains to us.
 */
#ifndef STACKTALLY_SYMBOLIZE_INLINES_INTERNAL_H
#define STACKTALLY_SYMBOLIZE_INLINES_INTERNAL_H

#include "base/byte_stream.h"
#include "confined/confined.h"
#include "symbolize/demangle.h"
#include "symbolize/inlines.h"

struct inlines {
	struct pool *pool;
	bool functions, lines;
	struct inline_chain *chains;
	uint32_t n_chains, chain_capacity;
	struct inline_frame *frames;
	uint32_t n_frames, frame_capacity;
	uint32_t n_broken;
	uint32_t n_missing;		/* units in .dwo files that are not there */
	const char *missing;		/* one of these files; in the pool */
	void (*waiting)(void *context); /* or NULL */
	void *waiting_context;
	struct confined *readers; /* made when first needed */
	uint64_t received;	  /* bytes of strings, for all files */
	char text[DEMANGLE_SIZE];
};

/* Adds a chain of `n` frames, unless it is equal to the last one. 0 or -ENOMEM. */
int inlines_add_chain(struct inlines *inlines, const struct inline_frame *frames, uint32_t n,
		      uint32_t *ret_chain);

/* Queries whose chains are to be read from DWARF. */
struct inlines_job {
	struct inlines *inlines; /* chains are added to it */
	struct symbol_query *queries;
	size_t n;
	uint64_t end_ns; /* CLOCK_MONOTONIC: stop then */
	/* Called for each query that has got a chain. */
	void (*done)(void *context, uint32_t query, uint32_t chain);
	void *context;
};

/*
 * Reads DWARF in this process, trusting libdw. 0, -ENODATA: there is none, or another negative
 * errno; chains found before stand.
 */
int inlines_read(const struct inlines_job *job, int fd);

/* The child's end: sends the chain of a query; `again`: it is the one sent last. */
void inlines_send(const struct byte_sink *sink, const struct inlines *inlines, uint32_t query,
		  uint32_t chain, bool again);

/* Sends that all was read, and what is missing; without it, the child was stopped by something. */
void inlines_send_end(const struct byte_sink *sink, const struct inlines *inlines);

/*
 * Our end, which does not trust the child: a hostile file may have taken it over. Sets the chains
 * of the queries. 0 when the end was received; -EPROTO: the child sent something else than
 * inlines_send() does; -ENOMEM; or an error of the source. Chains received before stand.
 */
int inlines_receive(struct inlines *inlines, const struct byte_source *source,
		    struct symbol_query *queries, size_t n);

#endif
