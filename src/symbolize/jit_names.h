/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of the names that a perf map or a jitdump gives an address in turn is right for the samples
 * of one process image: the last one of before the image's end; one of later, if the runtime named
 * the code only then. Where there were several during the image, or of later only, all that can be
 * told is "[jit: ONE or OTHER]".
 *
 * Must not know: the forms of these files.
 */
#ifndef STACKTALLY_SYMBOLIZE_JIT_NAMES_H
#define STACKTALLY_SYMBOLIZE_JIT_NAMES_H

#include "base/pool.h"
#include "elf/symbol_query.h"
#include "process/images.h"

enum jit_when { JIT_BEFORE_IMAGE, JIT_DURING_IMAGE, JIT_AFTER_IMAGE };

/* When a record at `at` in the file was written; `time`: when it says so itself, 0: it does not. */
enum jit_when jit_names_when(const struct jit_window *window, uint64_t at, uint64_t time);

/* Whether a record of that time can be the name of the query. */
bool jit_names_wants(const struct symbol_query *query, enum jit_when when);
/* Gives a query that wants it the name of a record. */
void jit_names_give(struct symbol_query *query, enum jit_when when, uint64_t start,
		    const char *name);

/* Once all records were read: names those that had several. 0 or -ENOMEM. */
int jit_names_end(struct symbol_query *queries, size_t n, struct pool *pool);

/* Whether a frame's name is of that form; it may be NULL. */
bool jit_names_is_either(const char *name);

#endif
