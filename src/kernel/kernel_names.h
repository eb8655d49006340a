/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The running kernel as a source of names: asks the kernel, where it can be asked, opens
 * /proc/kallsyms once for the rest, knows the kernel's build-id and can tell why there are no
 * names.
 *
 * Must not know: tallies, user code.
 */
#ifndef STACKTALLY_KERNEL_KERNEL_NAMES_H
#define STACKTALLY_KERNEL_KERNEL_NAMES_H

#include "kernel/kallsyms.h"
#include "kernel/kernel_symbols.h"
#include "tally/names.h"

#define KERNEL_OBJECT "[kernel.kallsyms]"

struct kernel_names;

int kernel_names_new(struct kernel_names **ret_kernel);
void kernel_names_free(struct kernel_names *kernel);
DEFINE_OWN(struct kernel_names, kernel_names_free)

/* From here on the kernel is asked first. -ENOTSUP when it does not answer; -ENOMEM. */
int kernel_names_ask(struct kernel_names *kernel, const struct kernel_lookup *lookup);

/*
 * The kernel's symbols, read at the first call, by whichever thread makes it; the others wait. NULL
 * when they cannot be read.
 */
const struct kallsyms *kernel_names_table(struct kernel_names *kernel);

/* False when no function is known that contains the address. */
bool kernel_names_find(struct kernel_names *kernel, uint64_t address,
		       struct kernel_symbol *ret_symbol);

/* As symbolizer_kernel_advice(); NULL as long as the symbols were not asked for. */
const char *kernel_names_advice(const struct kernel_names *kernel);

/* All but the path. */
void kernel_names_object(struct kernel_names *kernel, struct names_object *ret_object);

#endif
