/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of generated code from a perf map (/tmp/perf-PID.map): lines "START SIZE NAME", both
 * numbers hexadecimal, appended as code is made. The file is passed over once for a whole batch,
 * so that its size costs no memory; code is moved and freed without notice, so where lines
 * overlap the last one holds.
 *
 * Must not know: where the file came from and whether to trust it (process/ sees to that).
 */
#ifndef STACKTALLY_SYMBOLIZE_PERFMAP_H
#define STACKTALLY_SYMBOLIZE_PERFMAP_H

#include "base/pool.h"
#include "elf/symbol_query.h"

/*
 * Answers the queries (sorted, without doubles) that the file knows, replacing answers they had.
 * Reads from where the descriptor stands. 0, -ENOMEM, or the errno of a read.
 */
int perfmap_find(int fd, struct symbol_query *queries, size_t n, struct pool *pool);

#endif
