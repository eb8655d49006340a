/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbols of one mapped ELF file: from its symbol tables and those of its debug file
 * (symbol_tables.h), then from the sources of files (sources.h); and, if wanted, its inlined
 * functions and lines. Everything is opened, read once for the whole batch, and closed.
 *
 * Must not know: processes, mappings, tallies.
 */
#ifndef STACKTALLY_SYMBOLIZE_FILE_SYMBOLS_H
#define STACKTALLY_SYMBOLIZE_FILE_SYMBOLS_H

#include "base/pool.h"
#include "elf/symbol_query.h"
#include "symbolize/debug_file.h"
#include "symbolize/inlines.h"

/* All parts are borrowed. */
struct file_symbols_request {
	int fd;
	const char *path;		   /* next to which its debug link is looked for, or NULL */
	const struct debug_places *places; /* NULL: no debug files */
	struct pool *pool;		   /* for the names */
	struct inlines *inlines;	   /* NULL: neither inlined functions nor lines */
};

/*
 * Sets name, start and chain of the queries, whose addresses (and starts) are offsets in the file,
 * sorted, without doubles. A file that is damaged or not ELF has no names. 0 or -ENOMEM.
 */
int file_symbols_find(const struct file_symbols_request *request, struct symbol_query *queries,
		      size_t n);

/* The same for a file in memory, without debug files and inlined functions. */
int file_symbols_find_memory(const void *bytes, size_t size, struct pool *pool,
			     struct symbol_query *queries, size_t n);

#endif
