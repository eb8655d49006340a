/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is checked and set before anything is loaded: our capabilities, kernels that may hang, the
 * sysctl that limits stack walks, the limit of descriptors.
 */
#ifndef STACKTALLY_LOADER_PREPARE_H
#define STACKTALLY_LOADER_PREPARE_H

#include <stdint.h>

#include "base/error.h"
#include "plan/plan.h"

struct prepared {
	uint32_t max_stack;    /* kernel.perf_event_max_stack from now on */
	uint32_t limit_before; /* its former value; 0: it was not changed */
	char warning[512];     /* for the user; "": none */
};

/* Signals are blocked already. 0, or a negative errno with `err` set. */
int prepare_machine(const struct plan *plan, struct prepared *ret_prepared, struct error *err);

/* Raises the limit of descriptors; after the fork of the command, which keeps the old one. */
void prepare_descriptors(void);

/*
 * Restores the sysctl, once the BPF programs are gone. Returns 0, or its former value if the kernel
 * did not let it be restored.
 */
uint32_t prepare_restore(const struct prepared *prepared);

#endif
