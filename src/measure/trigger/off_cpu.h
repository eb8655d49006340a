/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trigger that fires when a thread leaves its CPU (bpf/off_cpu.bpf.h).
 */
#ifndef STACKTALLY_TRIGGER_OFF_CPU_H
#define STACKTALLY_TRIGGER_OFF_CPU_H

#include "trigger/trigger.h"

/*
 * `clock`: a trigger of trigger/clock.h that samples CPUs beside it, or NULL; owned from then on,
 * also on failure. `wakers`: those that make threads ready to run are found, too. On success the
 * caller owns the trigger. 0 or -ENOMEM.
 */
int off_cpu_trigger_new(struct trigger *clock, bool wakers, struct trigger **ret_trigger,
			struct error *err);

#endif
