/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the running kernel has the unwinding tables of its own code (ORC), for
 * bpf/kernel_walk.bpf.h.
 */
#ifndef STACKTALLY_KERNEL_KERNEL_TABLES_H
#define STACKTALLY_KERNEL_KERNEL_TABLES_H

#include <stdint.h>
#include <stdio.h>

#include "bpf/wire.h"
#include "kernel/kernel_symbols.h"

/*
 * Fills in what the kernel answers to the symbols' names. Where it has no such tables, or does not
 * say where they are, `n` stays 0, and the kernel is asked for each stack.
 */
void kernel_tables_ask(const struct kernel_lookup *asker, volatile struct wire_orc *orc);

/* The same from the text of /proc/kallsyms, which takes longer. NULL is no text. */
void kernel_tables_read(FILE *kallsyms, volatile struct wire_orc *orc);

/*
 * Those of the modules, sorted by address, into room for WIRE_MAX_MODULES: `list` is the text of
 * /proc/modules, or NULL, `directory` a descriptor of /sys/module. Returns how many there are.
 */
uint32_t kernel_tables_modules(FILE *list, int directory, struct wire_module *modules);

/* Those of the modules loaded now into the kernel side's map; `n_modules` says how many. */
void kernel_tables_tell_modules(int map, volatile struct wire_orc *orc);

#endif
