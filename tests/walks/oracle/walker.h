/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walk under test, over tables that are compiled from the files that live processes map; and
 * names for the addresses that are printed.
 */
#ifndef STACKTALLY_TESTS_WALKER_H
#define STACKTALLY_TESTS_WALKER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "tests/walks/in_memory/native.h"

struct walker;

/* `spoil`: a kind of rules to make wrong (tables.h), or NULL. Exits if there is no such kind. */
struct walker *walker_new(const char *spoil);
void walker_free(struct walker *walker);

/* (Re)writes the tables of a process. Call it when its mappings have changed. */
void walker_update(struct walker *walker, pid_t pid);

/* Walks; memory is read by `read`. */
void walker_walk(struct walker *walker, pid_t pid, const struct user_regs_struct *regs,
		 int (*read)(void *data, void *to, uint32_t size, uint64_t address), void *data,
		 struct native_stack *ret_stack);

/* "function+0x1f (libc.so.6)" into `text`; `function` gets only the name. */
void walker_name(struct walker *walker, pid_t pid, uint64_t address, char *text, size_t size);
void walker_rule(struct walker *walker, uint16_t rule, char *text, size_t size);
const char *walker_end_name(enum wire_end end);

#endif
