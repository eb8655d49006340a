/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a measurement has to end, and when the caller of session_run() has to act before. Points in
 * time are monotonic_ns(); nothing here asks what time it is.
 */
#ifndef STACKTALLY_SESSION_SCHEDULE_H
#define STACKTALLY_SESSION_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "plan/plan.h"
#include "session/session.h"

struct schedule {
	const struct plan *plan;
	uint64_t started;
	uint64_t longer;				  /* ns, beyond the plan's duration */
	uint64_t next_interval, next_refresh, next_slice; /* the caller's */
	uint64_t next_tick, next_look; /* of the trigger, and at what was chosen */
};

/* `plan` is borrowed. */
struct schedule schedule_begin(const struct plan *plan, uint64_t now);

/* When the measurement has to end; UINT64_MAX: at no given time. */
uint64_t schedule_end(const struct schedule *schedule);
/* Puts the end off until `ns` after `now`, but not beyond `limit`. */
void schedule_put_off(struct schedule *schedule, uint64_t now, uint64_t ns, uint64_t limit);

/* The first of all that is due before `until`, or `until`. */
uint64_t schedule_next(const struct schedule *schedule, uint64_t until);

/*
 * Whether the caller has to act; then the time of the next event of that kind is set. `reload` is
 * asked for; slices only end if they are not to be `long_slices`. Those that were missed are
 * skipped, and the report at the end of an interval is a refresh, too.
 */
bool schedule_is_due(struct schedule *schedule, uint64_t now, bool reload, bool long_slices,
		     enum session_event *ret_event);

/* Whether the trigger's tick() is due: each second; whether to look at what was chosen: 10/s. */
bool schedule_tick_is_due(struct schedule *schedule, uint64_t now);
bool schedule_look_is_due(struct schedule *schedule, uint64_t now);

#endif
