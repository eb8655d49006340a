/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of generated code from a jitdump file, which a runtime (V8, LuaJIT, CPython, agents of
 * HotSpot) appends records to (Linux, tools/perf/Documentation/jitdump-specification.txt). Where
 * records overlap, jit_names.h tells which counts, by their times and places. The code in the
 * records is skipped.
 *
 * Must not know: where the file came from and whether to trust it (images_open_jit()).
 */
#ifndef STACKTALLY_SYMBOLIZE_JITDUMP_H
#define STACKTALLY_SYMBOLIZE_JITDUMP_H

#include "base/pool.h"
#include "symbolize/jit_names.h"

/*
 * Sets start and name of the queries (sorted, without doubles) that the file has a name for, in the
 * image of the window. A
 * damaged record ends the reading; names found before stand. 0 or -ENOMEM.
 */
int jitdump_find(int fd, const struct jit_window *window, struct symbol_query *queries, size_t n,
		 struct pool *pool);

#endif
