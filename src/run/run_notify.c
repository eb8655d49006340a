// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/run_notify.h"

int run_notify_open(struct plan *plan, struct notify **ret_notify, struct error *err)
{
	struct notify *notify = NULL;
	int r = notify_open(&notify, err);
	double every = notify_alive_every(notify);

	if (r < 0 || !notify)
		return r;
	if (every > 0 && (plan->tick <= 0 || plan->tick > every))
		plan->tick = every;
	plan->reload = plan->interval > 0;
	*ret_notify = notify;
	return 0;
}

int run_notify_before(struct notify *notify, enum session_event event, struct error *err)
{
	notify_alive(notify);
	if (!session_goes_on(event))
		notify_stopping(notify);
	return event == SESSION_RELOAD ? notify_reloading(notify, err) : 0;
}

int run_notify_after(struct notify *notify, enum session_event event, struct error *err)
{
	return event == SESSION_RELOAD ? notify_ready(notify, err) : 0;
}
