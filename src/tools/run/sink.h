/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sink: a place where the reports of a measurement go, for example files, a page that is served,
 * or an engine. run.c calls the hooks of all sinks of the list SINKS in these moments, in the
 * order of the list. A new sink is a line in that list and a file, run/sink_<id>.c, which defines
 * `<id>_sink`.
 *
 * All hooks but open() are optional. Those that return int return 0 or a negative errno with `err`
 * set, which ends the measurement. They run on the main thread.
 */
#ifndef STACKTALLY_RUN_SINK_H
#define STACKTALLY_RUN_SINK_H

#include <stdbool.h>

#include "plan/plan.h"
#include "process/images.h"
#include "run/run_report.h"
#include "session/session.h"
#include "symbolize/symbolizer.h"

#define SINKS(SINK) SINK(files) SINK(live) SINK(tui) SINK(push) SINK(notify) SINK(times) SINK(keep)

/* What sinks may use of the measurement. All of it is borrowed and outlives the sinks' end(). */
struct sink_source {
	struct run_report *report; /* the request, the facts, the tally and its names */
	/* From begin() to end(): */
	struct session *session;
	struct images *images;
	const struct symbolizer_options *naming; /* how the report's addresses are named */
};

struct sink_ops {
	/* Shows all since the start of the measurement: names are never forgotten between
	 * intervals. */
	bool cumulative;
	/* Draws on the terminal: nothing is announced there. */
	bool takes_terminal;

	/*
	 * Before the BPF programs are loaded and before there are threads. Leaves *ret_self NULL
	 * if the plan does not ask for this sink: then no other hook is called. May change the
	 * plan so that the session comes back more often.
	 */
	int (*open)(const struct sink_source *source, struct plan *plan, void **ret_self,
		    struct error *err);
	/* The programs are loaded, and nothing is counted yet. */
	int (*loaded)(void *self, struct error *err);
	/* Events are counted. The title still says how to end the measurement. */
	int (*announce)(void *self, struct error *err);
	/* Events are counted, and the facts of all reports are known but for their durations. */
	int (*begin)(void *self, const struct sink_source *source, struct error *err);
	/* The command, if there is one, runs. */
	int (*launched)(void *self, struct error *err);
	/* session_run() came back with any event, ahead of back(). */
	int (*slice)(void *self, enum session_event event, struct error *err);
	/*
	 * session_run() came back with `event`, which is none of SESSION_SLICE; what was counted
	 * since has no names yet.
	 */
	int (*back)(void *self, enum session_event event, struct error *err);
	/* At a tick: whether show() is to be called, for which everything has to be named. */
	bool (*wants_names)(void *self);
	/* The tally has names: after wants_names(), and ahead of each report. */
	int (*show)(void *self, enum session_event event, struct error *err);
	/* An interval or the measurement has ended; the tally is cleared afterwards. */
	int (*report)(void *self, struct error *err);
	/* All that belongs to `event` has been done. */
	int (*done)(void *self, enum session_event event, struct error *err);
	/* The measurement has ended, also by an error; the session is closed next. */
	void (*end)(void *self);
	/* After a measurement without an error. */
	int (*finish)(void *self, struct error *err);
	void (*close)(void *self);
};

#define SINK_DECLARE(id) extern const struct sink_ops id##_sink;
SINKS(SINK_DECLARE)

#endif
