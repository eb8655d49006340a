/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes that walks know, each with the layout it has now. Changes are noted as the images
 * tell of them and written together: of a process that forked, executed and ended in between,
 * nothing is written at all. For one thread. Must not know: rows, blocks.
 */
#ifndef STACKTALLY_UNWIND_PROCESS_TABLES_H
#define STACKTALLY_UNWIND_PROCESS_TABLES_H

#include "unwind/layouts.h"

struct process_tables;

/* `layouts` and `maps` are borrowed. */
int process_tables_new(const struct images *images, struct layouts *layouts,
		       struct unwind_maps *maps, struct process_tables **ret_processes);
/* The layouts stay, to be cleared. */
void process_tables_free(struct process_tables *processes);

/* What the images tell. No memory for it is told by the next flush. */
void process_tables_changed(struct process_tables *processes, pid_t tgid);
void process_tables_forked(struct process_tables *processes, pid_t child, pid_t parent);
void process_tables_ended(struct process_tables *processes, pid_t tgid);
/*
 * A walk did not find it. If it is known, it is written again: the kernel side lets go of it at
 * the end of execve(), which may be after it was written for the new program.
 */
void process_tables_missed(struct process_tables *processes, pid_t tgid);

/* Writes what has changed. 0 or a negative errno. */
int process_tables_flush(struct process_tables *processes, uint64_t now, struct error *err);

/* What it has as far as it was written, or NULL. */
const struct layout *process_tables_find(const struct process_tables *processes, pid_t tgid);

/* Adds its own numbers. */
void process_tables_stats(const struct process_tables *processes, struct unwind_stats *stats);

#endif
