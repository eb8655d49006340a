/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A measurement that a service manager started: what the manager asks for, and what it is told.
 */
#ifndef STACKTALLY_RUN_RUN_NOTIFY_H
#define STACKTALLY_RUN_RUN_NOTIFY_H

#include "base/error.h"
#include "notify/notify.h"
#include "plan/plan.h"
#include "session/session.h"

/*
 * Changes the plan so that the measurement comes back as often as the manager's watchdog wants, and
 * so that SIGHUP, by which managers ask for a reload, ends an interval and not the measurement.
 * *ret_notify is NULL if there is no manager that asks.
 */
int run_notify_open(struct plan *plan, struct notify **ret_notify, struct error *err);

/* session_run() came back with `event`: before and after that is dealt with. */
int run_notify_before(struct notify *notify, enum session_event event, struct error *err);
int run_notify_after(struct notify *notify, enum session_event event, struct error *err);

#endif
