/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the running kernel keeps its ORC tables (arch/x86/kernel/unwind_orc.c), by which
 * bpf/kernel_walk.bpf.h unwinds kernel stacks.
 *
 * struct wire_orc is memory of the BPF programs, which may be running: `n` is set last. It stays 0
 * where the kernel has no ORC tables or does not say where they are; then bpf_get_stack() walks.
 */
#ifndef STACKTALLY_KERNEL_ORC_TABLES_H
#define STACKTALLY_KERNEL_ORC_TABLES_H

#include <stdint.h>

#include "bpf/wire.h"
#include "kernel/kernel_symbols.h"

/* Finds the core kernel's tables by looking up their symbols one by one. */
void orc_tables_look_up(const struct kernel_lookup *lookup, volatile struct wire_orc *orc);

/* The same by reading /proc/kallsyms from `kallsyms_fd`, which takes 40 ms. -1: there is none. */
void orc_tables_read(int kallsyms_fd, volatile struct wire_orc *orc);

/*
 * The tables of live modules, sorted by address, into room for WIRE_MAX_MODULES. `list_fd` is
 * /proc/modules, or -1; `directory` is /sys/module. Returns how many there are.
 */
uint32_t orc_tables_modules(int list_fd, int directory, struct wire_module *modules);

/*
 * Writes the tables of the modules that are loaded now to `map`, the BPF object's kernel_modules,
 * and their number to `n_modules`. Call it before one of the first two.
 */
void orc_tables_write_modules(int map, volatile struct wire_orc *orc);

#endif
