/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks the running kernel what its code is called, by programs of the BPF object that are run from
 * here: since Linux 5.16. Must not know: what is made of the answers (symbolize/asked_kernel.h).
 */
#ifndef STACKTALLY_SESSION_KERNEL_ASKER_H
#define STACKTALLY_SESSION_KERNEL_ASKER_H

#include <stdbool.h>

#include "kernel/asked_kernel.h"

struct stacktally;

/* Has the programs loaded with the object, where the kernel has what they call. */
void kernel_asker_choose(struct stacktally *skeleton);

/* Once it is loaded. False: this kernel cannot be asked. */
bool kernel_asker_get(struct stacktally *skeleton, struct kernel_asker *ret_asker);

#endif
