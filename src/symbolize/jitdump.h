/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of generated code from a jitdump file, which a runtime (V8, LuaJIT, CPython, agents of
 * HotSpot) appends records to (Linux, tools/perf/Documentation/jitdump-specification.txt). Where
 * records overlap, the last one counts. The code in the records is skipped.
 *
 * Must not know: where the file came from and whether to trust it (images_open_jit()).
 */
#ifndef STACKTALLY_SYMBOLIZE_JITDUMP_H
#define STACKTALLY_SYMBOLIZE_JITDUMP_H

#include "base/pool.h"
#include "elf/symbol_query.h"

/*
 * Sets start and name of the queries (sorted, without doubles) that the file has a name for. A
 * damaged record ends the reading; names found before stand. 0 or -ENOMEM.
 */
int jitdump_find(int fd, struct symbol_query *queries, size_t n, struct pool *pool);

#endif
