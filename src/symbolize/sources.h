/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order of the sources of names. To add a source, write its function in a file of its own that
 * includes this one, and add a line with the function's name to one of the two lists: the line
 * declares it and puts it in order.
 *
 * A source gets queries, sorted, without doubles, some of which the sources before it left without
 * a name. It sets `start` and `name` of those that it knows; the strings are from the pool. What it
 * reads may be hostile: damage ends the search in that source, and names found before stand. It
 * returns 0 or -ENOMEM. Sources of files run in a confined child. Sources of processes open files
 * and have a child read them (answers.h).
 */
#ifndef STACKTALLY_SYMBOLIZE_SOURCES_H
#define STACKTALLY_SYMBOLIZE_SOURCES_H

#include "base/pool.h"
#include "confined/confined.h"
#include "elf/elf_file.h"
#include "elf/symbol_query.h"
#include "process/images.h"

/* Of a mapped ELF file, after its symbol tables (symbol_tables.h): file_source functions. */
#define FILE_SOURCES(SOURCE)                                                                       \
	SOURCE(elf_stubs_find)                                                                     \
	SOURCE(go_symbols_find)                                                                    \
	SOURCE(function_starts_find) /* the last one: what it gives are not symbols */

/* Of the code of one process that no file has a symbol for: process_source functions. */
#define PROCESS_SOURCES(SOURCE)                                                                    \
	SOURCE(jit_files_perf_map)                                                                 \
	SOURCE(jit_files_jitdump)

/* The addresses of the queries are those of the ELF file. */
typedef int file_source(const struct elf_file *elf, struct symbol_query *queries, size_t n,
			struct pool *pool);

/* A lookup in the sources of one process, whose files are read by confined children. */
/* Files that would name generated code, and belong to others than its process's user and root. */
struct sources_refused {
	uint32_t n;
	char name[32];	/* of the first, in /tmp */
	uint32_t owner; /* its user's id */
};

struct process_request {
	struct confined *readers;
	struct sources_refused *refused; /* what was not read; a source adds to it */
	struct images *images;		 /* lock them while using them */
	uint32_t image;
	struct pool *pool;
	/* NULL, 0 until sources_make_queries(); their addresses are those of the process. */
	struct symbol_query *queries;
	size_t n;
	const struct lookup_group *group; /* what queries are made of */
	/* Set by the source, for all names it gives: */
	const char *module; /* NULL: that of the mapping */
	uint32_t flags;	    /* enum names_frame_flags */
};

/* Does nothing if the process has nothing of its kind. */
typedef int process_source(struct process_request *request);

/*
 * Makes the queries. A source calls it once it has found where to look them up: most processes
 * have nothing, and queries for all addresses without a name take memory and time. 0 or -ENOMEM.
 */
int sources_make_queries(struct process_request *request);

#define SOURCES_DECLARE_FILE(find)    file_source find;
#define SOURCES_DECLARE_PROCESS(find) process_source find;
FILE_SOURCES(SOURCES_DECLARE_FILE)
PROCESS_SOURCES(SOURCES_DECLARE_PROCESS)

/* The lists, in order and ended by NULL. */
extern file_source *const sources_of_files[];
extern process_source *const sources_of_processes[];

#endif
