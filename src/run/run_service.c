// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/run_service.h"

int run_service_open(struct plan *plan, struct service **ret_service, struct error *err)
{
	struct service *service = NULL;
	int r = service_open(&service, err);
	double every = service_alive_every(service);

	if (r < 0 || !service)
		return r;
	if (every > 0 && (plan->tick <= 0 || plan->tick > every))
		plan->tick = every;
	plan->reload = plan->interval > 0;
	*ret_service = service;
	return 0;
}

int run_service_before(struct service *service, enum session_event event, struct error *err)
{
	service_alive(service);
	if (!session_goes_on(event))
		service_stopping(service);
	return event == SESSION_RELOAD ? service_reloading(service, err) : 0;
}

int run_service_after(struct service *service, enum session_event event, struct error *err)
{
	return event == SESSION_RELOAD ? service_ready(service, err) : 0;
}
