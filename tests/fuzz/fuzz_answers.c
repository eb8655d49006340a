// SPDX-License-Identifier: GPL-2.0-or-later
/* Receives names from a child that a hostile file has taken over: the input is its answer. */
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "symbolize/answers.h"
#include "symbolize/demangle.h"

#define N_QUERIES 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct byte_memory memory = { data, size };
	const struct byte_source source = { byte_memory_read, &memory };
	struct symbol_query queries[N_QUERIES] = { 0 };
	own(own_pool_free) struct pool *pool = NULL;

	if (pool_new(&pool))
		abort();
	answers_receive(&source, pool, queries, N_QUERIES);
	for (uint32_t i = 0; i < N_QUERIES; i++) {
		if (queries[i].name && strlen(queries[i].name) >= DEMANGLE_SIZE)
			abort();
		if (queries[i].linkage_name &&
		    (!queries[i].name || strlen(queries[i].linkage_name) >= DEMANGLE_SIZE))
			abort();
	}
	return 0;
}
