/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the options both commands have to their plan and the look of their report.
 */
#ifndef STACKTALLY_SHARED_PLAN_H
#define STACKTALLY_SHARED_PLAN_H

#include "plan.h"
#include "report/writer.h"
#include "shared_options.h"

/*
 * Fills both from the options; what a command does differently it sets afterwards. The plan's
 * outputs are allocated: free them with shared_plan_clear().
 */
int shared_plan(const struct shared_options *options, char *const *command, struct plan *ret_plan,
		struct report_options *ret_report, struct error *err);
void shared_plan_clear(struct plan *plan);

/* "all threads", "PID 7", "TID [7, 8]": who is measured, for titles. */
void shared_plan_who(const struct plan *plan, char *who, size_t size);

#endif
