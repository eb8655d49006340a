/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lets others watch a measurement: joins the session and the images with live/. Names of its own,
 * since those of the report are made when the report is due, by the thread that measures.
 */
#ifndef STACKTALLY_RUN_RUN_LIVE_H
#define STACKTALLY_RUN_RUN_LIVE_H

#include "live/live.h"
#include "process/images.h"
#include "recording/recording.h"
#include "run/run.h"
#include "session/session.h"
#include "symbolize/symbolizer.h"

struct run_live;

/* Listens where the plan says, and tells the user; NULL in `ret_run` when nobody is to watch. */
int run_live_open(const struct run_request *request, struct run_live **ret_run, struct error *err);

/* Serves from now on. All is borrowed; `meta` and what it points to must outlive it. */
int run_live_start(struct run_live *run, const struct profile_meta *meta, struct images *images,
		   const struct symbolizer_options *options, struct session *session,
		   struct error *err);

/* Shows the tally as it stands; `cleared`: it is about to be cleared. */
int run_live_look(struct run_live *run, const struct tally *tally, bool cleared, struct error *err);

void run_live_close(struct run_live *run);

/* Serves a recording until a signal comes. */
int run_live_serve(const struct run_request *request, const struct recording *recording,
		   struct error *err);

#endif
