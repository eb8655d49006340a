/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was found for addresses: the symbols, each once, and which addresses of which file are
 * known to lie in which. Kept over several resolves, so that a file that many processes map, or
 * that is met in every interval, is looked into once for each address.
 *
 * Owns the strings of the symbols. Must not know: where addresses come from.
 */
#ifndef STACKTALLY_SYMBOLIZE_ANSWERS_H
#define STACKTALLY_SYMBOLIZE_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/own.h"
#include "base/pool.h"
#include "elf/symbol_query.h"

#define ANSWER_NONE UINT32_MAX

struct found_symbol {
	const char *name;	  /* demangled */
	const char *linkage_name; /* or NULL when it is the same */
	const char *module;	  /* or NULL: that of the mapping */
	uint32_t flags;		  /* enum names_frame_flags */
};

struct answer {
	uint32_t symbol; /* or ANSWER_NONE */
	uint32_t offset; /* from its start */
	uint32_t chain;	 /* of inlines.h, or QUERY_NO_CHAIN */
};

struct answers;

int answers_new(struct answers **ret_answers);
void answers_free(struct answers *answers);
DEFINE_OWN(struct answers, answers_free)

struct pool *answers_pool(struct answers *answers);
const struct found_symbol *answers_symbol(const struct answers *answers, uint32_t symbol);

/* Adds a symbol; `name` is as in the table, from the pool; `module` is copied. */
int answers_add_symbol(struct answers *answers, const char *name, const char *module,
		       uint32_t flags, uint32_t *ret_symbol);

/*
 * What is known about this offset of this file; false when nothing is, not even that it has no
 * name. For offsets in ascending order: *from, 0 at first, is where the search begins.
 */
bool answers_known(const struct answers *answers, uint32_t file, uint64_t offset, size_t *from,
		   struct answer *ret_answer);

/* Keeps what was found in a file; both arrays of length n, sorted by address, all of them new. */
int answers_keep(struct answers *answers, uint32_t file, const struct symbol_query *queries,
		 const struct answer *found, size_t n);

#endif
