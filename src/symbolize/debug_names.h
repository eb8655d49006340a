/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of addresses of a file that is not here, from a file with its symbols: a debug file or a
 * copy that was not stripped, which shows by its build-id that it is one. A confined child reads
 * it.
 */
#ifndef STACKTALLY_SYMBOLIZE_DEBUG_NAMES_H
#define STACKTALLY_SYMBOLIZE_DEBUG_NAMES_H

#include "base/pool.h"
#include "confined/confined.h"
#include "elf/symbol_query.h"

/*
 * Sets the names of queries, whose addresses are those of the ELF file, sorted, without doubles. 0;
 * -ESTALE: the file has another build-id; or another negative errno.
 */
int debug_names_find(struct confined *readers, int fd, const uint8_t *build_id, uint32_t size,
		     struct pool *pool, struct symbol_query *queries, size_t n);

#endif
