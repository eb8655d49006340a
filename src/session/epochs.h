/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two epochs of counts. The kernel side counts in one while the other is read and emptied;
 * turning over waits out a grace period, so that no event is counted where somebody reads, none
 * twice, and none is lost between the two.
 */
#ifndef STACKTALLY_SESSION_EPOCHS_H
#define STACKTALLY_SESSION_EPOCHS_H

#include <stdint.h>

#include "base/error.h"
#include "bpf/wire.h"

struct epochs;

/*
 * `counts` are `sets` for epoch 0 and as many for epoch 1, `epoch` is the kernel side's variable;
 * both mapped into our memory, and borrowed.
 */
int epochs_new(struct wire_counts *counts, uint64_t sets, volatile uint32_t *epoch,
	       struct epochs **ret_epochs);
void epochs_free(struct epochs *epochs);

/*
 * Makes the other epoch the one that counts and waits until no program counts in the old one: some
 * 10 ms. Returns the epoch that has ended, 0 or 1, or a negative errno.
 */
int epochs_switch(struct epochs *epochs, struct error *err);

/* Waits as epochs_switch() does, without turning: for the end, when nothing fires any more. */
int epochs_wait(struct epochs *epochs, struct error *err);

/* The epoch that counts now. */
uint32_t epochs_now(const struct epochs *epochs);

/*
 * Takes all counts out of an epoch that nobody counts in, calling `take` for each. Stops at the
 * first negative value that `take` returns and gives it back.
 */
int epochs_drain(struct epochs *epochs, uint32_t epoch,
		 int (*take)(void *context, const struct wire_hash *hash, uint64_t count),
		 void *context);

#endif
