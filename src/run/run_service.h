/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A measurement that a service manager started: what the manager asks for, and what it is told.
 */
#ifndef STACKTALLY_RUN_RUN_SERVICE_H
#define STACKTALLY_RUN_RUN_SERVICE_H

#include "base/error.h"
#include "plan/plan.h"
#include "service/service.h"
#include "session/session.h"

/*
 * Changes the plan so that the measurement comes back as often as the manager's watchdog wants, and
 * so that SIGHUP, by which managers ask for a reload, ends an interval and not the measurement.
 * *ret_service is NULL if there is no manager that asks.
 */
int run_service_open(struct plan *plan, struct service **ret_service, struct error *err);

/* session_run() came back with `event`: before and after that is dealt with. */
int run_service_before(struct service *service, enum session_event event, struct error *err);
int run_service_after(struct service *service, enum session_event event, struct error *err);

#endif
