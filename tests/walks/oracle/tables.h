/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of bpf/unwind_wire.h in plain memory: a file is compiled when it is first mapped, and
 * mappings are read from /proc/PID/maps. A simple writer, independent of that of the commands, so
 * that the two can be compared.
 */
#ifndef STACKTALLY_TESTS_TABLES_H
#define STACKTALLY_TESTS_TABLES_H

#include <stdbool.h>
#include <sys/types.h>

#include "tests/walks/in_memory/native.h"

struct tables;

/* Makes rules of one kind wrong, to show that comparisons fail then. False: no such kind. */
bool tables_spoil(struct tables *tables, const char *kind);

struct tables *tables_new(void);
void tables_free(struct tables *tables);

/* (Re)reads a process's mappings. */
void tables_update(struct tables *tables, pid_t pid);
/* For native_walk(); valid until the next tables_update(). */
const struct native_tables *tables_native(const struct tables *tables);

#endif
