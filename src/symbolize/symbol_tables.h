/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names from symbol tables: those of the file itself; of the file that the user wants in its place
 * (BCC_SYMFS); and, if the file is stripped, of its debug file and of its .gnu_debugdata.
 */
#ifndef STACKTALLY_SYMBOLIZE_SYMBOL_TABLES_H
#define STACKTALLY_SYMBOLIZE_SYMBOL_TABLES_H

#include "base/own.h"
#include "base/pool.h"
#include "elf/elf_file.h"
#include "elf/symbol_query.h"
#include "symbolize/debug_file.h"

/* A file and what is opened to find its names. */
struct symbol_tables {
	struct elf_file *main;		/* opened by the caller */
	struct elf_file *symfs, *debug; /* debug files, by BCC_SYMFS and by the other places */
	int symfs_fd, debug_fd;		/* -1: not open */
	struct elf_file *data;		/* .gnu_debugdata */
	void *data_bytes;		/* decompressed */
};

#define SYMBOL_TABLES_NONE ((struct symbol_tables){ .symfs_fd = -1, .debug_fd = -1 })

/* Closes all of it, `main` too. */
void symbol_tables_close(struct symbol_tables *tables);

/*
 * Sets name and start of the queries, whose addresses are those of the file, sorted, without
 * doubles. `path` and `places` as for debug_file_open(); NULL places: no debug files. 0 or -ENOMEM.
 */
int symbol_tables_find(struct symbol_tables *tables, const char *path,
		       const struct debug_places *places, struct pool *pool,
		       struct symbol_query *queries, size_t n);

#endif
