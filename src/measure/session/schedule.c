// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/schedule.h"

#include "base/clock.h"

#define TICK_NS NS_PER_SECOND
#define LOOK_NS (100 * NS_PER_MS)

static uint64_t ns_of(double seconds)
{
	return (uint64_t)(seconds * (double)NS_PER_SECOND);
}

struct schedule schedule_begin(const struct plan *plan, uint64_t now)
{
	return (struct schedule){ .plan = plan,
				  .started = now,
				  .next_interval = now + ns_of(plan->interval),
				  .next_refresh = now + ns_of(plan->tick),
				  .next_slice = now + ns_of(plan->slice),
				  .next_tick = now + TICK_NS };
}

uint64_t schedule_end(const struct schedule *schedule)
{
	if (schedule->plan->duration <= 0)
		return UINT64_MAX;
	return schedule->started + ns_of(schedule->plan->duration) + schedule->longer;
}

void schedule_put_off(struct schedule *schedule, uint64_t now, uint64_t ns, uint64_t limit)
{
	uint64_t end = schedule_end(schedule), wanted = now + ns < limit ? now + ns : limit;

	if (wanted > end)
		schedule->longer += wanted - end;
}

uint64_t schedule_next(const struct schedule *schedule, uint64_t until)
{
	const struct plan *plan = schedule->plan;
	uint64_t end = schedule_end(schedule);

	if (end < until)
		until = end;
	if (plan->interval > 0 && schedule->next_interval < until)
		until = schedule->next_interval;
	if (plan->tick > 0 && schedule->next_refresh < until)
		until = schedule->next_refresh;
	if (plan->slice > 0 && schedule->next_slice < until)
		until = schedule->next_slice;
	return until;
}

/* Whether it is time for `next`, of what comes each `every` ns, and when it is time again. */
static bool is_time(uint64_t *next, uint64_t every, uint64_t now)
{
	if (!every || now < *next)
		return false;
	*next += ((now - *next) / every + 1) * every;
	return true;
}

bool schedule_is_due(struct schedule *schedule, uint64_t now, bool reload, bool long_slices,
		     enum session_event *ret_event)
{
	const struct plan *plan = schedule->plan;
	uint64_t tick = ns_of(plan->tick);

	if (reload) {
		schedule->next_interval = now + ns_of(plan->interval);
		*ret_event = SESSION_RELOAD;
		return true;
	}
	if (plan->interval > 0 && now >= schedule->next_interval) {
		schedule->next_interval += ns_of(plan->interval);
		is_time(&schedule->next_refresh, tick, now); /* the report is one */
		*ret_event = SESSION_INTERVAL;
		return true;
	}
	if (is_time(&schedule->next_refresh, tick, now)) {
		*ret_event = SESSION_TICK;
		return true;
	}
	if (is_time(&schedule->next_slice, ns_of(plan->slice), now) && !long_slices) {
		*ret_event = SESSION_SLICE;
		return true;
	}
	return false;
}

bool schedule_tick_is_due(struct schedule *schedule, uint64_t now)
{
	if (now < schedule->next_tick)
		return false;
	schedule->next_tick = now + TICK_NS;
	return true;
}

bool schedule_look_is_due(struct schedule *schedule, uint64_t now)
{
	if (now < schedule->next_look)
		return false;
	schedule->next_look = now + LOOK_NS;
	return true;
}
