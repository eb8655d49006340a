/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks up symbols in the running kernel: by BPF programs of ours (bpf/kernel_symbol.bpf.c) that
 * are run for each question, which Linux 5.16 and later can (kernel/kernel_symbols.h).
 */
#ifndef STACKTALLY_LOADER_KERNEL_LOOKUP_H
#define STACKTALLY_LOADER_KERNEL_LOOKUP_H

#include <stdbool.h>

#include "kernel/kernel_symbols.h"

struct stacktally;

/* Has the programs loaded with the object, if the kernel has the helpers they call. */
void kernel_lookup_select(struct stacktally *skeleton);

/* After the load. *ret_lookup borrows `skeleton`. False: this kernel cannot be asked. */
bool kernel_lookup_get(struct stacktally *skeleton, struct kernel_lookup *ret_lookup);

#endif
