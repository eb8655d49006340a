/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What became of every event, from one report to the next: events = counts + losses.
 */
#ifndef STACKTALLY_LOADER_ACCOUNTING_H
#define STACKTALLY_LOADER_ACCOUNTING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "loader/due.h"
#include "loader/kernel_side.h"
#include "tally/tally.h"
#include "trigger/trigger.h"

struct accounting {
	struct wire_counters before;	       /* the BPF programs' counters at the last report */
	uint64_t throttled, unsampled, unseen; /* totals at the last report, or at the start */
	struct due *due;		       /* NULL: what is due is not known */
	uint64_t drained, unwanted; /* events taken out of the counts since the last report */
};

/* Events for which the kernel did not run our programs so far; some are counted by the trigger. */
uint64_t accounting_unseen(const struct kernel_side *side, const struct trigger *trigger);

/*
 * Adds the events since the last report, and the losses among them, to `losses`. While events go
 * on, the counter of events includes some that the next epoch counted, so the events are those
 * drained and lost; at the end (`final`) they are what the BPF programs counted, independently of
 * both. A negative errno when the counters cannot be read.
 */
int accounting_report(struct accounting *accounting, const struct kernel_side *side,
		      struct trigger *trigger, struct tally_losses *losses, bool final,
		      struct error *err);

#endif
