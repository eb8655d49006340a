/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of Go functions from .gopclntab (elf/go_table.h), which stripped programs still have.
 */
#ifndef STACKTALLY_ELF_GO_SYMBOLS_H
#define STACKTALLY_ELF_GO_SYMBOLS_H

#include "base/pool.h"
#include "elf/elf_file.h"
#include "elf/symbol_query.h"

/* Answers the queries that have no name yet; names come from `pool`. 0 or -ENOMEM. */
int go_symbols_find(const struct elf_file *elf, struct symbol_query *queries, size_t n,
		    struct pool *pool);

#endif
