// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The readers of an ELF file's names and build-id: outline, symbol tables, .gnu_debugdata, PLT,
 * .gopclntab, notes. The input is the file.
 */
#include <stdlib.h>
#include <string.h>

#include "elf/build_id.h"
#include "elf/elf_file.h"
#include "symbolize/file_symbols.h"

#define N_QUERIES 512

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct symbol_query *query)
{
	if (query->name && !*query->name)
		abort();
	/*
	 * The difference may wrap: a symbol may start before its segment's bytes in the file. A
	 * cold part may be in front of its function.
	 */
	if (query->name && !query->is_start && query->address - query->start > INT64_MAX)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_query queries[N_QUERIES] = { 0 };
	struct elf_file *elf = NULL;
	struct pool *pool = NULL;
	uint8_t build_id[64];
	size_t step = size / N_QUERIES + 1;

	if (pool_new(&pool))
		return 0;
	for (size_t i = 0; i < N_QUERIES; i++)
		queries[i].address = i * step;
	if (!file_symbols_find_memory(data, size, pool, queries, N_QUERIES)) {
		for (size_t i = 0; i < N_QUERIES; i++)
			check(&queries[i]);
	}
	if (!elf_file_open_memory(data, size, &elf)) {
		if (build_id_of(elf, build_id, sizeof(build_id)) > sizeof(build_id))
			abort();
		elf_file_close(elf);
	}
	pool_free(pool);
	return 0;
}
