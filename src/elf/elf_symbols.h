/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names from the symbol tables of ELF files: the file's own .symtab and .dynsym, those of its
 * debug file, those of .gnu_debugdata. A search passes over each table once and keeps only the
 * best symbol for each query; names are read for those alone.
 *
 * A symbol answers a query when it is a function (STT_FUNC, STT_GNU_IFUNC) that contains the
 * address. Where several do, the first of these rules that tells them apart decides:
 *   1. the one that starts last (the innermost of nested ones);
 *   2. global and weak over local: locals among aliases are a library's inner names;
 *   3. fewer leading underscores: read over __read, malloc over __libc_malloc;
 *   4. global over weak;
 *   5. the longer name: pread64 over pread, the name that says more;
 *   6. the name that sorts first.
 * A function or label without size (assembler code) answers only where no sized one does, up to
 * the next symbol and the end of its section. Versions (@GLIBC_2.2.5) are cut off.
 *
 * Must not know: where the files came from, processes, demangling.
 */
#ifndef STACKTALLY_ELF_ELF_SYMBOLS_H
#define STACKTALLY_ELF_ELF_SYMBOLS_H

#include "base/pool.h"
#include "elf/elf_file.h"
#include "elf/symbol_query.h"

#define ELF_SYMBOL_NAME_SIZE 16384 /* longer names are cut */

struct elf_search;

/* The queries must stay where they are until the search is freed, sorted, without doubles. */
int elf_search_new(struct symbol_query *queries, size_t n, struct elf_search **ret_search);
void elf_search_free(struct elf_search *search);
DEFINE_OWN(struct elf_search, elf_search_free)

/*
 * Passes over the symbol tables of a file, which must stay open until elf_search_finish().
 * Returns the number of functions it saw in a .symtab (0: the file is stripped) or a negative
 * errno.
 */
int64_t elf_search_file(struct elf_search *search, const struct elf_file *elf);

/* Fills `start` and `name` of the queries that were answered. 0 or -ENOMEM. */
int elf_search_finish(struct elf_search *search, struct pool *pool);

#endif
