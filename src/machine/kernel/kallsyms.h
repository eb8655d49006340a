/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All functions of the kernel by address, from /proc/kallsyms: the core kernel's, its modules' and
 * JITed BPF programs'. A function takes 12 bytes and its name.
 *
 * The file has no sizes: a function ends at the next symbol of any kind, data too, and a module's
 * last function at the module's end (/proc/modules). Of several names at one address the best is
 * kept (kernel_alias.h).
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

/* A function of the kernel. */
struct kernel_symbol {
	uint64_t start;	    /* its first address */
	const char *module; /* "[kernel]", "[ext4]", "[bpf]"; owned by what found the symbol */
	char name[KALLSYMS_NAME_SIZE];
};

/*
 * Reads /proc/kallsyms and /proc/modules from where the descriptors stand; `modules_fd` may be -1.
 * 0, -ENOMEM, -EFBIG when there are too many names, or the negative errno of a read.
 */
int kallsyms_read(int kallsyms_fd, int modules_fd, struct kallsyms **ret_kallsyms);
void kallsyms_free(struct kallsyms *kallsyms);
DEFINE_OWN(struct kallsyms, kallsyms_free)

/* False when no function contains the address. */
bool kallsyms_find(const struct kallsyms *kallsyms, uint64_t address,
		   struct kernel_symbol *ret_symbol);

/* Whether there are symbols, all of them at address 0: kernel.kptr_restrict hides them. */
bool kallsyms_are_hidden(const struct kallsyms *kallsyms);

/* Where the core kernel's code begins and ends (past its last byte); 0 and 0: not known. */
void kallsyms_core_range(const struct kallsyms *kallsyms, uint64_t *ret_start, uint64_t *ret_end);

#endif
