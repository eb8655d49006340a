/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --live: joins session and process images with live/. Has a symbolizer of its own, which live/
 * calls on its thread; that of the report names addresses only when a report is due.
 */
#ifndef STACKTALLY_RUN_RUN_LIVE_H
#define STACKTALLY_RUN_RUN_LIVE_H

#include "live/live.h"
#include "process/images.h"
#include "run/run.h"
#include "session/session.h"
#include "symbolize/symbolizer.h"

struct run_live;

/* Listens at the plan's address and prints the URL. Leaves *ret_run NULL without --live. */
int run_live_open(const struct run_request *request, struct run_live **ret_run, struct error *err);

/* Serves from now on. Everything is borrowed and must outlive `run`. */
int run_live_start(struct run_live *run, const struct profile_meta *meta, struct images *images,
		   const struct symbolizer_options *options, struct session *session,
		   struct error *err);

/* Shows the tally; `cleared`: it is about to be cleared. Does nothing if `run` is NULL. */
int run_live_look(struct run_live *run, const struct tally *tally, bool cleared, struct error *err);

void run_live_close(struct run_live *run);

/* Serves what was loaded from a file until SIGINT, SIGTERM or SIGHUP. */
int run_live_serve(const struct run_request *request, const struct measurement *measurement,
		   struct error *err);

#endif
