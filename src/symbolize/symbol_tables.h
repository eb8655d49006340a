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

/* A file and what else its names are in. */
struct symbol_tables {
	struct elf_file *main;
	struct elf_file *symfs, *debug; /* debug files, by BCC_SYMFS and by other places; or NULL */
	struct elf_file *data;		/* .gnu_debugdata, opened when it is needed */
	void *data_bytes;		/* decompressed */
	bool wants_debug;		/* found: a debug file might have more names */
};

#define SYMBOL_TABLES_NONE ((struct symbol_tables){ 0 })

/* Closes all files. */
void symbol_tables_close(struct symbol_tables *tables);

/*
 * Sets name and start of the queries, whose addresses are those of the file, sorted, without
 * doubles. 0 or -ENOMEM.
 */
int symbol_tables_find(struct symbol_tables *tables, struct pool *pool,
		       struct symbol_query *queries, size_t n);

#endif
