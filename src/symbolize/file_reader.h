/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the symbols of one ELF file, in a confined child: from its symbol tables and those of its
 * debug file (symbol_tables.h), then from the sources of files (sources.h).
 *
 * Must not know: processes, mappings, tallies, where debug files are.
 */
#ifndef STACKTALLY_SYMBOLIZE_FILE_READER_H
#define STACKTALLY_SYMBOLIZE_FILE_READER_H

#include "confined/confined.h"
#include "elf/symbol_query.h"
#include "symbolize/debug_file.h"
#include "symbolize/symbol_tables.h"

/* What a child is asked about a file; the addresses of the queries follow, as offsets in it. */
struct file_question {
	uint64_t n;
	/* Which descriptors come behind that of the file, in this order: */
	bool has_symfs, has_debug;
	enum debug_proof proof; /* that the debug file must give */
};

/* What comes before the answers. */
struct file_facts {
	struct debug_wanted wanted;
	/* 0: false; anything else, of which a child may send all, is true. */
	uint8_t wants_debug; /* there may be more names in a debug file, and none was given */
	uint8_t wrong_symfs, wrong_debug; /* the one that was given belongs to another file */
	uint8_t has_dwarf;		  /* the file itself has .debug_info */
};

/* Answers a struct file_question. */
confined_work file_reader_work;

/*
 * The same in this process, for a file that can be trusted: sets name and start of the queries,
 * whose addresses (and starts) are offsets in the file, sorted, without doubles. 0 or -ENOMEM.
 */
int file_reader_find(struct symbol_tables *tables, struct pool *pool, struct symbol_query *queries,
		     size_t n);

#endif
