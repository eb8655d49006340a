/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A measurement from plan to report: the one place where session, symbolizer and writers meet.
 */
#ifndef STACKTALLY_RUN_RUN_H
#define STACKTALLY_RUN_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "plan/plan.h"
#include "report/writer.h"
#include "trigger/trigger.h"

struct run_request {
	const char *program; /* for messages */
	const struct plan *plan;
	struct report_options report;
	struct profile_meta meta; /* what is known before; run() adds times */
	bool timestamp;		  /* a line with the time before each report */
	const char *farewell;	  /* last line of text on stdout, or NULL */
	/* The first line of a text report, without newline; `n` is what the trigger attached to. */
	void (*title)(const void *options, uint32_t n, char *ret_title, size_t size);
	/* Called once all is attached, for what the user should know; or NULL. */
	void (*attached)(const void *options, const struct trigger *trigger);
	const void *options; /* for both */
};

/* Measures, reports, and returns the exit code. The trigger is freed. */
int run(const struct run_request *request, struct trigger *trigger);

/* Reports from a recording. */
int run_from(const struct run_request *request, const char *path);

#endif
