/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes that walks can look up, each with its current layout. Changes are noted when the
 * images report them, and written together: a process that comes and goes between two flushes is
 * never written. For one thread. Must not know: rows, blocks.
 */
#ifndef STACKTALLY_UNWIND_PROCESS_TABLES_H
#define STACKTALLY_UNWIND_PROCESS_TABLES_H

#include "unwind/layouts.h"

struct process_tables;

/* All arguments are borrowed. 0 or -ENOMEM. */
int process_tables_new(const struct images *images, struct layouts *layouts,
		       struct unwind_maps *maps, struct process_tables **ret_processes);
/* Does not release the layouts: call layouts_clear() next. */
void process_tables_free(struct process_tables *processes);

/* Reports of the images. If one finds no memory, the next flush fails. */
void process_tables_changed(struct process_tables *processes, pid_t tgid);
void process_tables_forked(struct process_tables *processes, pid_t child, pid_t parent);
void process_tables_ended(struct process_tables *processes, pid_t tgid);
/* As unwind_missed(). */
void process_tables_missed(struct process_tables *processes, pid_t tgid);

/* Writes what has changed. `now` is monotonic_ns(). 0 or a negative errno. */
int process_tables_flush(struct process_tables *processes, uint64_t now, struct error *err);

/* The layout of a process as it was written last; NULL: none. */
struct layout *process_tables_find(const struct process_tables *processes, pid_t tgid);

/* Sets the members of `stats` that are about processes. */
void process_tables_stats(const struct process_tables *processes, struct unwind_stats *stats);

#endif
