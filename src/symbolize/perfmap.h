/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of generated code from a perf map: lines "START SIZE NAME", numbers in hexadecimal, that a
 * runtime appends as it makes code (Linux, tools/perf/Documentation/jit-interface.txt). Runtimes
 * move and free code without saying so: where lines overlap, the last one counts. The file is read
 * once for a whole batch, in memory of a fixed size.
 *
 * Must not know: where the file came from and whether to trust it (images_open_jit()).
 */
#ifndef STACKTALLY_SYMBOLIZE_PERFMAP_H
#define STACKTALLY_SYMBOLIZE_PERFMAP_H

#include "base/pool.h"
#include "elf/symbol_query.h"

/*
 * Sets start and name of the queries (sorted, without doubles) that the file has a name for. Reads
 * from the descriptor's offset on. 0, -ENOMEM, or the negative errno of a read.
 */
int perfmap_find(int fd, struct symbol_query *queries, size_t n, struct pool *pool);

#endif
