/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits until no BPF program runs any more that ran before. From one thread.
 */
#ifndef STACKTALLY_DRAIN_GRACE_PERIOD_H
#define STACKTALLY_DRAIN_GRACE_PERIOD_H

#include "base/error.h"

/*
 * An update of a map of maps waits for a grace period (1ae80cf31938, Linux 4.18). The map serves no
 * other purpose, and is made when it is needed.
 */
struct grace_period {
	int inner, outer; /* descriptors; -1: none yet */
};

#define GRACE_PERIOD_NONE ((struct grace_period){ .inner = -1, .outer = -1 })

/* Takes some 10 ms. 0, or a negative errno with `err` set. */
int grace_period_wait(struct grace_period *period, struct error *err);
void grace_period_close(struct grace_period *period);

#endif
