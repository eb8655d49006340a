/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --live with --from: the page of a measurement that was loaded from a file.
 */
#ifndef STACKTALLY_RUN_LIVE_RECORDING_H
#define STACKTALLY_RUN_LIVE_RECORDING_H

#include "run/run.h"

/* Serves it until SIGINT, SIGTERM or SIGHUP. 0 or a negative errno with `err` set. */
int live_recording_serve(const struct run_request *request, const struct measurement *measurement,
			 struct error *err);

#endif
