/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbols of one mapped ELF file and, if wanted, its inlined functions and lines. The file is
 * read by a confined child (file_reader.h, inlines.h); its debug file, if it has one, is opened
 * here. Everything is opened, read once for the whole batch, and closed.
 *
 * Must not know: processes, mappings, tallies.
 */
#ifndef STACKTALLY_SYMBOLIZE_FILE_SYMBOLS_H
#define STACKTALLY_SYMBOLIZE_FILE_SYMBOLS_H

#include "base/pool.h"
#include "confined/confined.h"
#include "elf/symbol_query.h"
#include "symbolize/debug_file.h"
#include "symbolize/inlines.h"

/* All parts are borrowed. */
struct file_symbols_request {
	struct confined *readers;
	int fd;
	const char *path;		   /* next to which its debug link is looked for, or NULL */
	uint32_t file;			   /* its number, for places->open_beside() */
	const struct debug_places *places; /* NULL: no debug files */
	struct pool *pool;		   /* for the names */
	struct inlines *inlines;	   /* NULL: neither inlined functions nor lines */
};

/*
 * Sets names, start and chain of the queries, whose addresses (and starts) are offsets in the file,
 * sorted, without doubles. A file that is damaged, not ELF, or over the time of its owner has no
 * names. 0 or -ENOMEM.
 */
int file_symbols_find(const struct file_symbols_request *request, struct symbol_query *queries,
		      size_t n);

/* The same in two steps, between which a child reads the file. */
struct file_symbols_call {
	struct file_symbols_request request;
	struct symbol_query *queries; /* borrowed */
	size_t n;
	int symfs;		      /* the file that BCC_SYMFS has in its place; -1: none */
	struct confined_child *child; /* NULL: the file cannot be read */
};

#define FILE_SYMBOLS_CALL_NONE ((struct file_symbols_call){ .symfs = -1 })

/* After 0 and until file_symbols_end() request->readers takes no other call. 0 or -ENOMEM. */
int file_symbols_begin(const struct file_symbols_request *request, struct symbol_query *queries,
		       size_t n, struct file_symbols_call *ret_call);
int file_symbols_end(struct file_symbols_call *call);
/* In place of file_symbols_end(), or behind it. */
void file_symbols_close(struct file_symbols_call *call);

/*
 * The same in this process, for a file in memory that can be trusted, without debug files, inlined
 * functions and demangling.
 */
int file_symbols_find_memory(const void *bytes, size_t size, struct pool *pool,
			     struct symbol_query *queries, size_t n);

#endif
