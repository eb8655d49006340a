// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The reader of Go's table of functions. The input is the section .gopclntab.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "elf/go_symbols.h"

#define N_QUERIES 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char names[] = "\0.gopclntab\0.text";
	struct elf_section sections[] = {
		{ 0 }, /* section 0 is reserved */
		{ .name = 1, .type = SHT_PROGBITS, .size = size },
		{ .name = 12, .type = SHT_PROGBITS, .size = size, .address = 0x1000 },
	};
	const struct elf_file elf = {
		.fd = -1,
		.bytes = data,
		.size = size,
		.is_64 = true,
		.sections = sections,
		.n_sections = 3,
		.section_names = names,
		.section_names_size = sizeof(names),
	};
	struct symbol_query queries[N_QUERIES] = { 0 };
	struct pool *pool = NULL;

	if (pool_new(&pool))
		abort();
	/* Dense where the code begins, then farther and farther apart. */
	for (uint32_t i = 0; i < N_QUERIES; i++)
		queries[i].address = 0x1000 + (i < 32 ? i * 16 : UINT64_C(512) << (i - 32));
	if (go_symbols_find(&elf, queries, N_QUERIES, pool))
		abort();
	for (uint32_t i = 0; i < N_QUERIES; i++) {
		if (queries[i].name && (!*queries[i].name || queries[i].start > queries[i].address))
			abort();
	}
	pool_free(pool);
	return 0;
}
