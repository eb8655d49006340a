// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Receives chains from a DWARF reader that a hostile file has taken over: the input is the content
 * of its pipe.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/own.h"
#include "symbolize/inlines_internal.h"

#define N_QUERIES 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	own(own_inlines_free) struct inlines *inlines = NULL;
	struct symbol_query queries[N_QUERIES] = { 0 };
	struct byte_memory memory = { data, size };
	const struct byte_source source = { byte_memory_read, &memory };
	struct pool *pool = NULL;

	if (pool_new(&pool) || inlines_new(pool, true, true, &inlines))
		abort();
	for (uint32_t i = 0; i < N_QUERIES; i++)
		queries[i].chain = QUERY_NO_CHAIN;
	inlines_receive(inlines, &source, queries, N_QUERIES);
	for (uint32_t i = 0; i < N_QUERIES; i++) {
		const struct inline_chain *chain;

		if (queries[i].chain == QUERY_NO_CHAIN)
			continue;
		chain = inlines_chain(inlines, queries[i].chain);
		if (chain->n == 0 || chain->n > INLINES_MAX_DEPTH)
			abort();
		for (uint32_t f = 0; f < chain->n; f++) {
			const struct inline_frame *frame = &inlines_frames(inlines, chain)[f];

			if (frame->name && strlen(frame->name) > DEMANGLE_SIZE)
				abort();
		}
	}
	pool_free(pool);
	return 0;
}
