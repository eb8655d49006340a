/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of the running kernel's functions: by lookup in the kernel where that works, else from
 * /proc/kallsyms; its build-id; and why there are no names.
 *
 * kernel_names_table() may be called by any thread, all else by one.
 */
#ifndef STACKTALLY_KERNEL_KERNEL_NAMES_H
#define STACKTALLY_KERNEL_KERNEL_NAMES_H

#include "kernel/kallsyms.h"
#include "kernel/kernel_symbols.h"
#include "tally/names.h"

#define KERNEL_OBJECT "[kernel.kallsyms]"

struct kernel_names;

/* 0 or -ENOMEM. Reads nothing yet. */
int kernel_names_new(struct kernel_names **ret_kernel);
void kernel_names_free(struct kernel_names *kernel);
DEFINE_OWN(struct kernel_names, kernel_names_free)

/* From here on the kernel is asked first. As kernel_symbols_new(). */
int kernel_names_ask(struct kernel_names *kernel, const struct kernel_lookup *lookup);

/*
 * The content of /proc/kallsyms, read by the first call while other threads' calls wait. NULL when
 * it cannot be read.
 */
const struct kallsyms *kernel_names_table(struct kernel_names *kernel);

/* False when no known function contains the address. */
bool kernel_names_find(struct kernel_names *kernel, uint64_t address,
		       struct kernel_symbol *ret_symbol);

/*
 * Why kernel functions have no names and what to do about it; NULL when they have, or when
 * /proc/kallsyms was not read.
 */
const char *kernel_names_advice(const struct kernel_names *kernel);

/* Fills in the core kernel's addresses and build-id (0 where unknown), not its path. */
void kernel_names_object(struct kernel_names *kernel, struct names_object *ret_object);

#endif
