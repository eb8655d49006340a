/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where functions without a symbol begin: at the FDE that contains the address, at the stub of a
 * procedure linkage table, at .init and .fini, or, in code without call frame information, behind
 * the padding that separates functions. The cold part of a function begins where the function
 * does, if the part's jumps lead into it.
 */
#ifndef STACKTALLY_CFI_FUNCTION_STARTS_H
#define STACKTALLY_CFI_FUNCTION_STARTS_H

#include "base/pool.h"
#include "elf/elf_file.h"
#include "elf/symbol_query.h"

/*
 * Answers queries that have no name yet, with the start of the function and "+0xSTART" for a name;
 * sets `is_start`. 0 or -ENOMEM.
 */
int function_starts_find(const struct elf_file *elf, struct symbol_query *queries, size_t n,
			 struct pool *pool);

#endif
