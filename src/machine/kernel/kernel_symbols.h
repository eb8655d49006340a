/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of the kernel by address, looked up one by one in the running kernel. For the few
 * hundred in the stacks of a measurement this takes a tenth of the time of reading /proc/kallsyms.
 *
 * It knows the core kernel, modules and BPF programs, by the names that kallsyms_find() gives.
 * Other generated code (ftrace trampolines, copies of probed instructions) is only in
 * /proc/kallsyms. Where kernel.kptr_restrict hides addresses, functions have their names all the
 * same, though not better known aliases, and the range of the core kernel is 0 to 0. Not for
 * several threads at once.
 */
#ifndef STACKTALLY_KERNEL_KERNEL_SYMBOLS_H
#define STACKTALLY_KERNEL_KERNEL_SYMBOLS_H

#include "kernel/kallsyms.h"

/* How the kernel is asked (loader/kernel_lookup.h). Both return 0 or a negative errno. */
struct kernel_lookup {
	void *context;
	/* As the kernel's %pS: "NAME+0xOFFSET/0xSIZE [MODULE]"; valid until the next call. */
	int (*symbol_at)(void *context, uint64_t address, const char **ret_text);
	int (*address_of)(void *context, const char *name, uint64_t *ret_address);
};

struct kernel_symbols;

/*
 * Copies `lookup`, whose context is borrowed. 0; -ENOMEM; -ENOTSUP when the kernel does not answer.
 */
int kernel_symbols_new(const struct kernel_lookup *lookup, struct kernel_symbols **ret_symbols);
void kernel_symbols_free(struct kernel_symbols *symbols);

/* False when only /proc/kallsyms can tell. The symbol's module lives as long as `symbols`. */
bool kernel_symbols_find(struct kernel_symbols *symbols, uint64_t address,
			 struct kernel_symbol *ret_symbol);

/* As kallsyms_core_range(). */
void kernel_symbols_core_range(const struct kernel_symbols *symbols, uint64_t *ret_start,
			       uint64_t *ret_end);

#endif
