/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inlined functions and source lines, from DWARF, by libdw. This costs far more than symbols, so it
 * is done only when asked for, and within limits of size and time. It is done in a confined child
 * (confined.h), since libdw crashes on files made for that.
 *
 * What is found for an address is a chain of frames: one for each function inlined there, the
 * innermost first, and the last for the function that contains the code. Each has the line of the
 * address in its function: for all but the first, the line of the inlined call.
 *
 * Not for several threads. Must not know: processes, symbol tables.
 */
#ifndef STACKTALLY_SYMBOLIZE_INLINES_H
#define STACKTALLY_SYMBOLIZE_INLINES_H

#include <stdbool.h>

#include "base/own.h"
#include "base/pool.h"
#include "elf/symbol_query.h"

#define INLINES_MAX_DEPTH 32 /* frames of a chain; of more, the innermost are dropped */

struct inline_frame {
	const char *name;	  /* demangled; NULL: not known, and in the last frame */
	const char *linkage_name; /* NULL: the same */
	const char *file;	  /* NULL: not known */
	uint32_t line;		  /* 0: not known */
};

struct inline_chain {
	uint32_t first, n; /* n >= 1 */
};

struct inlines;

/* `pool`, for names and files, is borrowed. 0 or -ENOMEM. */
int inlines_new(struct pool *pool, bool functions, bool lines, struct inlines **ret_inlines);
void inlines_free(struct inlines *inlines);
DEFINE_OWN(struct inlines, inlines_free)

/* Ends the readers until the next call: see confined_retire(). */
void inlines_rest(struct inlines *inlines);

/* Sets a function that is called about every second while a file takes long; or NULL. */
void inlines_set_waiting(struct inlines *inlines, void (*waiting)(void *context), void *context);

/*
 * Sets the chain of the queries that the DWARF of this file has one for. Their addresses are
 * offsets in the file `mapped`, which may be the same; `fd` may be its debug file. Damaged DWARF
 * has none. 0 or -ENOMEM.
 */
int inlines_find(struct inlines *inlines, int fd, int mapped, struct symbol_query *queries,
		 size_t n);

/* The number of files that were not read to the end: too large, too slow, or libdw crashed. */
uint32_t inlines_n_broken(const struct inlines *inlines);

/*
 * The number of compilation units whose functions are in .dwo or .dwp files that are not there, and
 * one of these files.
 */
uint32_t inlines_n_missing(const struct inlines *inlines, const char **ret_file);

const struct inline_chain *inlines_chain(const struct inlines *inlines, uint32_t chain);

/* The frames of a chain; borrowed until the next inlines_find(). */
const struct inline_frame *inlines_frames(const struct inlines *inlines,
					  const struct inline_chain *chain);

#endif
