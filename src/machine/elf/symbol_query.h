/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The question to all sources of symbols. Queries come in batches, sorted by address and without
 * duplicates, so that a source passes over its table once and keeps the answers only.
 */
#ifndef STACKTALLY_ELF_SYMBOL_QUERY_H
#define STACKTALLY_ELF_SYMBOL_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/partition.h"

struct symbol_query {
	uint64_t address; /* to look up: of the ELF file, or in memory, as the source has it */
	uint64_t start;	  /* answer: where the symbol starts */
	/* Answers, from the caller's pool. */
	const char *name; /* as the source has it, until answers.h has demangled it; NULL: none */
	const char *linkage_name; /* before that; NULL: the same */
	uint32_t chain; /* answer: inlined functions and lines (inlines.h), or QUERY_NO_CHAIN */
	/* Answer: no symbol contains the address; the name is "+0x" and the start in the file. */
	bool is_start;
	/* While names of generated code are read (jit_names.h). */
	bool is_late;
	const char *other; /* an earlier name, or NULL */
};

#define QUERY_NO_CHAIN UINT32_MAX

/* The first query at or above the address: an index from 0 to n. */
static inline size_t symbol_query_lower_bound(const struct symbol_query *queries, size_t n,
					      uint64_t address)
{
	return partition_point(i, n, queries[i].address < address);
}

#endif
