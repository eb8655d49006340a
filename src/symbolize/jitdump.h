/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitdump files: what a compiler at run time (V8, LuaJIT, CPython, HotSpot's agents) made, record
 * by record, as perf's tools define them. Code that replaced other code at the same place comes
 * later in the file, so the newest record wins. The code itself is skipped.
 *
 * Must not know: where the file came from and whether to trust it (process/ sees to that).
 */
#ifndef STACKTALLY_SYMBOLIZE_JITDUMP_H
#define STACKTALLY_SYMBOLIZE_JITDUMP_H

#include "base/pool.h"
#include "elf/symbol_query.h"

/*
 * Answers the queries (sorted, without doubles) that the file knows, replacing answers they had.
 * What is broken ends the reading; what was before stands. 0 or -ENOMEM.
 */
int jitdump_find(int fd, struct symbol_query *queries, size_t n, struct pool *pool);

#endif
