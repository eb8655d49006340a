/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks the running kernel what its code is called, by programs of the BPF object that are run from
 * here: since Linux 5.16. Must not know: what is made of the answers (symbolize/kernel_symbols.h).
 */
#ifndef STACKTALLY_SESSION_KERNEL_LOOKUP_H
#define STACKTALLY_SESSION_KERNEL_LOOKUP_H

#include <stdbool.h>

#include "kernel/kernel_symbols.h"

struct stacktally;

/* Has the programs loaded with the object, where the kernel has what they call. */
void kernel_lookup_select(struct stacktally *skeleton);

/* Once it is loaded. False: this kernel cannot be asked. */
bool kernel_lookup_get(struct stacktally *skeleton, struct kernel_lookup *ret_lookup);

#endif
