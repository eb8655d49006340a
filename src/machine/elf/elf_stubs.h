/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of code that has no symbol: stubs of the procedure linkage table (PLT), named after the
 * function they jump to (malloc@plt), _start, the entry point of programs, __restore_rt, to which
 * signal handlers return, and __start_context, to which functions of makecontext() do.
 */
#ifndef STACKTALLY_ELF_ELF_STUBS_H
#define STACKTALLY_ELF_ELF_STUBS_H

#include "base/pool.h"
#include "elf/elf_file.h"
#include "elf/symbol_query.h"

/* Answers the queries that have no name yet; names come from `pool`. 0 or -ENOMEM. */
int elf_stubs_find(const struct elf_file *elf, struct symbol_query *queries, size_t n,
		   struct pool *pool);

#endif
