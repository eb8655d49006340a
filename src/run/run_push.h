/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --push: writes the report of each interval in the format of an engine, and hands it to push/.
 */
#ifndef STACKTALLY_RUN_RUN_PUSH_H
#define STACKTALLY_RUN_RUN_PUSH_H

#include "run/run_report.h"

struct run_push;

/*
 * Before there are threads: forks. Leaves *ret_run NULL without --push. All functions that return
 * int give 0 or a negative errno with `err` set.
 */
int run_push_open(const struct run_request *request, struct run_push **ret_run, struct error *err);
/* Once the measurement runs. This and the next do nothing if `run` is NULL. */
int run_push_start(struct run_push *run, struct error *err);
/* Sends what the tally holds, unless that is nothing. */
int run_push_report(struct run_push *run, const struct run_report *report, struct error *err);
/* Waits for what can be sent within seconds. */
void run_push_close(struct run_push *run);

#endif
