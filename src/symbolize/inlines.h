/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inlined functions and source lines, from DWARF through libdw. Costs far more than symbols, so it
 * is done only when asked for, and within limits of size and time.
 *
 * What is found about an address is a chain: one element for each function inlined there, the
 * innermost first, and a last one for the function that exists as code. An element tells where
 * in its function the address is.
 *
 * Must not know: processes, symbol tables.
 */
#ifndef STACKTALLY_SYMBOLIZE_INLINES_H
#define STACKTALLY_SYMBOLIZE_INLINES_H

#include <stdbool.h>

#include "base/own.h"
#include "base/pool.h"
#include "elf/symbol_query.h"

#define INLINES_MAX_DEPTH 32 /* of functions inlined at one address; the outer ones stay */

struct inline_frame {
	const char *name;	  /* demangled; NULL for the last, and for nameless ones */
	const char *linkage_name; /* when it differs from name; else NULL */
	const char *file;	  /* or NULL */
	uint32_t line;		  /* 0 unknown */
};

struct inline_chain {
	uint32_t first, n; /* n >= 1 */
};

struct inlines;

/* `pool` is borrowed, for names and files. */
int inlines_new(struct pool *pool, bool functions, bool lines, struct inlines **ret_inlines);
void inlines_free(struct inlines *inlines);
DEFINE_OWN(struct inlines, inlines_free)

/* `waiting` is called now and then while a file takes long. */
void inlines_tell_waiting(struct inlines *inlines, void (*waiting)(void *context), void *context);

/*
 * Sets the chains of the queries that the DWARF of this file tells of; their addresses are those
 * of the ELF file, sorted. 0 or -ENOMEM; broken DWARF answers nothing. DWARF is read in a confined
 * child: libdw trusts files more than we do.
 */
int inlines_find(struct inlines *inlines, int fd, struct symbol_query *queries, size_t n);

/* How many files had DWARF that was not read to the end: it is too large, or libdw crashed. */
uint32_t inlines_n_broken(const struct inlines *inlines);

const struct inline_chain *inlines_chain(const struct inlines *inlines, uint32_t chain);
/* The elements of a chain; valid until the next inlines_find(). */
const struct inline_frame *inlines_frames(const struct inlines *inlines,
					  const struct inline_chain *chain);

#endif
