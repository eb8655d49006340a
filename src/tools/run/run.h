/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run of a command, from plan to reports: joins session, symbolizer and writers.
 */
#ifndef STACKTALLY_RUN_RUN_H
#define STACKTALLY_RUN_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "plan/plan.h"
#include "report/writer.h"
#include "trigger/trigger.h"

/* All pointers are borrowed for the run. */
struct run_request {
	const char *program; /* its name in messages */
	uint64_t began;	     /* when the program did; CLOCK_MONOTONIC, in ns */
	const struct plan *plan;
	struct report_options report;
	struct profile_meta meta; /* facts known beforehand; run() adds the others */
	const char *pattern;  /* of events, for run_from(): the recording must have them; or NULL */
	bool timestamp;	      /* a line with the time before each report */
	const char *farewell; /* last line of a text report on stdout; or NULL */
	/* Makes the title of a text report, without newline; `n` is what the trigger attached to.
	 */
	void (*title)(const void *options, uint32_t n, char *ret_title, size_t size);
	/* Called when the trigger is attached, to print notes on it; or NULL. */
	void (*attached)(const struct trigger *trigger);
	const void *options; /* passed to title() */
};

/* Measures and reports. Prints errors; returns the exit code. Frees the trigger. */
int run(const struct run_request *request, struct trigger *trigger);

/* Reports from the file at `path` instead: a recording, folded text or pprof's format. */
int run_from(const struct run_request *request, const char *path);

#endif
