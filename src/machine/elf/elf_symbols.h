/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names from the symbol tables of ELF files: .symtab and .dynsym of a file, of its debug file and
 * of its .gnu_debugdata. A search passes over each table once, keeps the best symbol for each
 * query and reads the names of those only.
 *
 * A symbol answers a query when it is a function (STT_FUNC, STT_GNU_IFUNC) that contains the
 * address. Where several do, the first of these rules that tells them apart decides:
 *   1. the one that starts last (the innermost of nested ones);
 *   2. global and weak over local: a library's internal names are local aliases;
 *   3. the default version over others (foo@@V_2 over foo@V_1);
 *   4. fewer leading underscores: read over __read, malloc over __libc_malloc;
 *   5. global over weak;
 *   6. the longer name, which says more: pread64 over pread;
 *   7. the name that sorts first.
 *
 * A function or label without size (assembly) answers only where no function with a size does, up
 * to the next symbol and the end of its section. Where the code behind it is known to belong to it
 * (struct elf_code_extent), it is preferred to labels in that code that say less of a function:
 * local ones, those without a type, NASM's. Where the code seems to end before the address, it
 * answers only if the tables are complete: a table without local symbols, as .dynsym, leaves
 * functions out. A default version (@@GLIBC_2.34) and one of another file are cut off; another one
 * of this file (@GLIBC_2.2.5) tells two functions apart and is kept.
 *
 * Must not know: where the files came from, processes, demangling.
 */
#ifndef STACKTALLY_ELF_ELF_SYMBOLS_H
#define STACKTALLY_ELF_ELF_SYMBOLS_H

#include "base/pool.h"
#include "elf/elf_file.h"
#include "elf/symbol_query.h"

#define ELF_SYMBOL_NAME_SIZE 16384 /* bytes; longer names are cut */

struct elf_symbols;

/*
 * Queries are sorted by address, without duplicates, and stay where they are until the search is
 * freed. 0 or -ENOMEM.
 */
int elf_symbols_new(struct symbol_query *queries, size_t n, struct elf_symbols **ret_search);
void elf_symbols_free(struct elf_symbols *search);
DEFINE_OWN(struct elf_symbols, elf_symbols_free)

/*
 * Passes over the symbol tables of a file, which must stay open until elf_symbols_finish(); of four
 * files at most. Returns the number of functions in its .symtab (0: the file is stripped), -E2BIG
 * or -ENOMEM.
 */
int64_t elf_symbols_file(struct elf_symbols *search, const struct elf_file *elf);

/* Whether an address belongs to the code that begins at a symbol without a size. */
enum elf_extent {
	ELF_EXTENT_UNKNOWN, /* the code cannot be read */
	ELF_EXTENT_INSIDE,
	ELF_EXTENT_ENDED,  /* the flow of control has ended before the address, as far as is seen */
	ELF_EXTENT_BEYOND, /* another function begins in between */
};

/* Answers that. `find` need not be called for addresses that a sized symbol contains. */
struct elf_code_extent {
	enum elf_extent (*find)(void *context, uint64_t symbol, uint64_t address);
	void *context;
};

/* Sets `start` and `name` of the queries that have an answer. 0 or -ENOMEM. */
int elf_symbols_finish(struct elf_symbols *search, const struct elf_code_extent *extent,
		       struct pool *pool);

#endif
