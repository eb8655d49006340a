/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What became of all events, from one report to the next: the books have to balance.
 */
#ifndef STACKTALLY_SESSION_LEDGER_H
#define STACKTALLY_SESSION_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "session/kernel_side.h"
#include "tally/tally.h"
#include "trigger/trigger.h"

struct ledger {
	struct wire_counters before; /* the kernel side's, as of the last report */
	uint64_t throttled, unseen;  /* as of the last report, or of the start */
	uint64_t drained, unwanted;  /* events taken out of the counts since then */
};

/*
 * Adds what was lost since the last report to `losses`, and begins anew. While events go on, the
 * kernel side's counters are ahead of the counts by what the next epoch counted; then the events
 * are those drained and lost. At the end (`final`) they are what the kernel side counted,
 * independently of both.
 */
int ledger_close(struct ledger *ledger, const struct kernel_side *side, struct trigger *trigger,
		 struct tally_losses *losses, bool final, struct error *err);

#endif
