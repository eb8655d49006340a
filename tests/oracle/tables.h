/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of bpf/unwind_wire.h in plain memory, written right when they are asked for: each file
 * is compiled at its first sight, mappings are those of /proc/PID/maps at that moment. Simple, and
 * not the writer that the commands use: the two can be held against each other.
 */
#ifndef STACKTALLY_TESTS_TABLES_H
#define STACKTALLY_TESTS_TABLES_H

#include <stdbool.h>
#include <sys/types.h>

#include "tests/walk/native.h"

struct tables;

/* Makes rules of one sort wrong from now on, to show that it is found. False: no such sort. */
bool tables_spoil(struct tables *tables, const char *sort);

struct tables *tables_new(void);
void tables_free(struct tables *tables);

/* (Re)reads a process's mappings. */
void tables_update(struct tables *tables, pid_t pid);
/* What a native walk takes; valid until the next tables_update(). */
const struct native_tables *tables_native(const struct tables *tables);

#endif
