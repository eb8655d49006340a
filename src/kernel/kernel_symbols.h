/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's functions by address, from the kernel itself, one question a function: for the few
 * hundred that are in stacks this is a tenth of the work of reading /proc/kallsyms. It knows the
 * core kernel, modules and BPF programs; of other generated code (trampolines of ftrace, copies of
 * probed instructions) only kallsyms knows, and is to be read for it. What is hidden there
 * (kernel.kptr_restrict) is not symbols for either.
 *
 * Names are those that kallsyms_find() would give. Must not know: how the kernel is symbols.
 */
#ifndef STACKTALLY_KERNEL_KERNEL_SYMBOLS_H
#define STACKTALLY_KERNEL_KERNEL_SYMBOLS_H

#include "kernel/kallsyms.h"

/* Who asks; both return 0 or a negative errno. */
struct kernel_lookup {
	void *context;
	/* As the kernel prints it, "NAME+0xOFFSET/0xSIZE [MODULE]"; valid until the next call. */
	int (*symbol_at)(void *context, uint64_t address, const char **ret_text);
	int (*address_of)(void *context, const char *name, uint64_t *ret_address);
};

struct kernel_symbols;

/*
 * The lookup's context must outlive its use. -ENOTSUP when it is not answered; -ENOMEM.
 */
int kernel_symbols_new(const struct kernel_lookup *lookup, struct kernel_symbols **ret_symbols);
void kernel_symbols_free(struct kernel_symbols *symbols);

/* False when kallsyms has to tell. */
bool kernel_symbols_find(struct kernel_symbols *symbols, uint64_t address,
			 struct kernel_symbol *ret_symbol);

/* As kallsyms_core_range(). */
void kernel_symbols_core_range(const struct kernel_symbols *symbols, uint64_t *ret_start,
			       uint64_t *ret_end);

#endif
