/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of generated code from a perf map: lines "START SIZE NAME", numbers in hexadecimal, that a
 * runtime appends as it makes code (Linux, tools/perf/Documentation/jit-interface.txt). Runtimes
 * move and free code without saying so: where lines overlap, jit_names.h tells which counts. The
 * file is read once for a whole batch, in memory of a fixed size.
 *
 * Must not know: where the file came from and whether to trust it (images_open_jit()).
 */
#ifndef STACKTALLY_SYMBOLIZE_PERFMAP_H
#define STACKTALLY_SYMBOLIZE_PERFMAP_H

#include "base/pool.h"
#include "symbolize/jit_names.h"

/*
 * Sets start and name of the queries (sorted, without doubles) that the file has a name for, in the
 * image of the window. Reads from the descriptor's offset on. 0, -ENOMEM, or the negative errno of
 * a read.
 */
int perfmap_find(int fd, const struct jit_window *window, struct symbol_query *queries, size_t n,
		 struct pool *pool);

#endif
