/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names in one mapped file, from all that tells them, in this order: the tree that the user
 * wants used (BCC_SYMFS); the file's own symbol tables; when it is stripped, its debug file
 * or its .gnu_debugdata; for what is left, names that follow from how such files are built.
 * Everything is opened, passed over once for the whole batch, and closed.
 *
 * Must not know: processes, mappings, tallies.
 */
#ifndef STACKTALLY_SYMBOLIZE_FILE_SYMBOLS_H
#define STACKTALLY_SYMBOLIZE_FILE_SYMBOLS_H

#include "base/pool.h"
#include "elf/symbol_query.h"
#include "symbolize/debug_files.h"
#include "symbolize/inlines.h"

struct file_symbols_request {
	int fd;		  /* of the file; borrowed */
	const char *path; /* where its debug link is looked for, or NULL */
	const struct debug_places *places;
	struct pool *pool;	 /* for the names */
	struct inlines *inlines; /* NULL: neither inlined functions nor lines */
};

/*
 * Answers the queries, whose addresses (and starts) are offsets in the file, sorted, without
 * doubles. 0 or -ENOMEM; what is no ELF file or is broken answers nothing.
 */
int file_symbols_find(const struct file_symbols_request *request, struct symbol_query *queries,
		      size_t n);

/* The same for a file in memory, without debug files. */
int file_symbols_find_memory(const void *bytes, size_t size, struct pool *pool,
			     struct symbol_query *queries, size_t n);

#endif
