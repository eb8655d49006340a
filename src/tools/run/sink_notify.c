// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A service manager that started the measurement, or probes: what they ask for, and what they are
 * told. They ask for signs of life, for which the session comes back as often as they want, and a
 * manager for reloads by SIGHUP, which ends an interval then and not the measurement.
 */
#include "notify/notify.h"
#include "run/sink.h"

static int begin_to_notify(const struct sink_source *source, struct plan *plan, void **ret_self,
			   struct error *err)
{
	struct notify *notify = NULL;
	int r = notify_open(&notify, err);
	double every = notify_alive_every(notify);

	(void)source;
	if (r < 0 || !notify)
		return r;
	if (every > 0 && (plan->tick <= 0 || plan->tick > every))
		plan->tick = every;
	plan->reload = plan->interval > 0;
	*ret_self = notify;
	return 0;
}

static int notify_launched(void *self, struct error *err)
{
	return notify_ready(self, err);
}

static int notify_back(void *self, enum session_event event, struct error *err)
{
	notify_alive(self);
	if (!session_goes_on(event))
		notify_stopping(self);
	return event == SESSION_RELOAD ? notify_reloading(self, err) : 0;
}

static int notify_done(void *self, enum session_event event, struct error *err)
{
	return event == SESSION_RELOAD ? notify_ready(self, err) : 0;
}

static void end_notifying(void *self)
{
	notify_close(self);
}

const struct sink_ops notify_sink = {
	.open = begin_to_notify,
	.launched = notify_launched,
	.back = notify_back,
	.done = notify_done,
	.close = end_notifying,
};
