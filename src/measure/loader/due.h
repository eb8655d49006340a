/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples that never came. The trigger tells how many were due on each CPU, by the kernel's own
 * count of the event, and the BPF programs count how often the clock came to them. What lacks is
 * told as a loss, with its cause.
 *
 * A look takes what is due before the counters are read, so a sample that comes in between is not
 * missed; and one on each CPU may be late. So the losses are rather too low than too high.
 */
#ifndef STACKTALLY_LOADER_DUE_H
#define STACKTALLY_LOADER_DUE_H

#include <stdbool.h>
#include <stdint.h>

#include "loader/kernel_side.h"
#include "tally/tally.h"
#include "trigger/trigger.h"

struct due;

/*
 * Once the programs are armed: begins. *ret_due is NULL for triggers whose events are not due at
 * any time. Unless the report `shows_idle` CPUs, samples that an idle CPU lacks are not due: some
 * machines' idle CPUs take no interrupt for a clock. A negative errno.
 */
int due_begin(struct trigger *trigger, const struct kernel_side *side, bool shows_idle,
	      struct due **ret_due);
/* May be NULL. */
void due_free(struct due *due);

/* Takes what is due by now. `due` may be NULL: nothing is. */
void due_look(struct due *due, struct trigger *trigger);

/* Where kernel_side_counters() is to write how often the clock came to each CPU; or NULL. */
struct clock_count *due_fired(struct due *due);

/*
 * Adds to `losses` what had not come of what was due at the last look, since the last report.
 * `refused` of it the kernel has counted itself (accounting_unseen()).
 */
void due_report(struct due *due, uint64_t refused, struct tally_losses *losses);

#endif
