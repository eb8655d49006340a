/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two epochs of counts. The BPF programs count in one while user space reads and empties the
 * other. Switching waits for a grace period, after which no program counts in the old epoch: so
 * each event is in exactly one epoch.
 */
#ifndef STACKTALLY_DRAIN_EPOCHS_H
#define STACKTALLY_DRAIN_EPOCHS_H

#include <stdint.h>

#include "base/error.h"
#include "bpf/wire.h"

struct epochs;

/*
 * `counts` has `sets` sets for epoch 0, then as many for epoch 1; `epoch` is the variable by which
 * the BPF programs know theirs. Both are memory shared with the kernel, and borrowed. 0 or -ENOMEM.
 */
int epochs_new(struct wire_counts *counts, uint64_t sets, volatile uint32_t *epoch,
	       struct epochs **ret_epochs);
void epochs_free(struct epochs *epochs);

/*
 * Makes the other epoch the current one and waits until no program counts in the old one, some
 * 10 ms. Returns the epoch that has ended, 0 or 1, or a negative errno.
 */
int epochs_switch(struct epochs *epochs, struct error *err);

/* Waits for a grace period: at the end, when no event fires any more, for programs still running.
 */
int epochs_wait(struct epochs *epochs, struct error *err);

/* The current epoch. */
uint32_t epochs_now(const struct epochs *epochs);

/*
 * Calls `take` for each count of an epoch that has ended, and clears it. Stops at the first
 * negative value of `take` and returns it; else 0.
 */
int epochs_drain(struct epochs *epochs, uint32_t epoch,
		 int (*take)(void *context, const struct wire_hash *hash, uint64_t count),
		 void *context);

#endif
