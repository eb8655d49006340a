/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's functions by address, from /proc/kallsyms: of the core kernel, its modules and
 * JITed BPF programs. Kept compact (12 bytes and the name for each function), because it is read
 * while sampling goes on, before it is known which names will be asked for.
 *
 * The file gives no sizes: a symbol reaches to the next one of any kind (data ends code too), and
 * a module's last one to the end of the module. Where names share an address, kernel_aliases.h
 * tells which is taken.
 *
 * Must not know: user code, tallies.
 */
#ifndef STACKTALLY_KERNEL_KALLSYMS_H
#define STACKTALLY_KERNEL_KALLSYMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/own.h"

#define KALLSYMS_NAME_SIZE 512
#define KALLSYMS_CORE	   "[kernel]"
#define KALLSYMS_PROGRAM   "[bpf]"

struct kallsyms;

struct kernel_symbol {
	uint64_t start;
	const char *module; /* "[kernel]", "[ext4]", "[bpf]"; lives as long as the kallsyms */
	char name[KALLSYMS_NAME_SIZE];
};

/*
 * Reads both files from where they stand; modules_fd (/proc/modules: where modules end) may be
 * -1. Returns 0, -ENOMEM, or the errno of a read.
 */
int kallsyms_read(int kallsyms_fd, int modules_fd, struct kallsyms **ret_kallsyms);
void kallsyms_free(struct kallsyms *kallsyms);
DEFINE_OWN(struct kallsyms, kallsyms_free)

/* False when no function contains the address. */
bool kallsyms_find(const struct kallsyms *kallsyms, uint64_t address,
		   struct kernel_symbol *ret_symbol);

/* Whether there are symbols but all addresses are 0: hidden from us. */
bool kallsyms_are_hidden(const struct kallsyms *kallsyms);

/* The lowest and highest address of the core kernel's code, 0 and 0 if there is none. */
void kallsyms_core_range(const struct kallsyms *kallsyms, uint64_t *ret_start, uint64_t *ret_end);

#endif
