/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of Go functions from .gopclntab, the table that Go's own runtime unwinds with: stripping
 * a program leaves it in place. Versions 1.2 to 1.20+ of the table are read.
 */
#ifndef STACKTALLY_ELF_GO_SYMBOLS_H
#define STACKTALLY_ELF_GO_SYMBOLS_H

#include "base/pool.h"
#include "elf/elf_file.h"
#include "elf/symbol_query.h"

/* Answers queries that have no name yet. 0 or -ENOMEM. */
int go_symbols_find(const struct elf_file *elf, struct symbol_query *queries, size_t n,
		    struct pool *pool);

#endif
