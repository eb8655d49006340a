/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queries by offset in a file, turned into queries by the addresses that the file's segments give
 * these offsets: symbol tables and DWARF speak of addresses.
 */
#ifndef STACKTALLY_SYMBOLIZE_PLACED_QUERIES_H
#define STACKTALLY_SYMBOLIZE_PLACED_QUERIES_H

#include "elf/elf_file.h"
#include "elf/symbol_query.h"

struct placed_queries {
	struct symbol_query *queries; /* by address, sorted; without an answer at first */
	size_t *origins;	      /* the index of the query that each was made of */
	size_t n;		      /* without those whose offset is not loaded */
};

#define PLACED_QUERIES_NONE ((struct placed_queries){ 0 })

/* 0 or -ENOMEM. */
int placed_queries_make(const struct elf_file *elf, const struct symbol_query *queries, size_t n,
			struct placed_queries *ret_placed);
void placed_queries_free(struct placed_queries *placed);

/* Gives the names and starts that were found to the queries they were made of. */
void placed_queries_give(const struct placed_queries *placed, struct symbol_query *queries);

#endif
