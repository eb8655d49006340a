/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of code that has no symbol, from the structure of the ELF file itself: the stubs of the
 * procedure linkage table, which are called after the function they lead to (malloc@plt), and
 * _start, where the program begins.
 */
#ifndef STACKTALLY_ELF_ELF_STUBS_H
#define STACKTALLY_ELF_ELF_STUBS_H

#include "base/pool.h"
#include "elf/elf_file.h"
#include "elf/symbol_query.h"

/* Answers queries that have no name yet. 0 or -ENOMEM. */
int elf_stubs_find(const struct elf_file *elf, struct symbol_query *queries, size_t n,
		   struct pool *pool);

#endif
