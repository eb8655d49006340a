/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where reports go: stdout and files, each with its format. Opened before the measurement, so
 * that what cannot be written is known before it is missed. A file appears under its name only
 * when it is whole; one that is written to again and again (intervals) is there from the start.
 *
 * A name with %n (1, 2 ...) or %t (when the interval began, local time) is a file for each report.
 */
#ifndef STACKTALLY_RUN_OUTPUTS_H
#define STACKTALLY_RUN_OUTPUTS_H

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "base/error.h"
#include "plan/plan.h"
#include "report/writer.h"

struct output {
	const struct writer *writer; /* NULL: a recording */
	const char *path;	     /* for messages; "standard output" */
	FILE *stream;
	char *buffer;
	char *final_path; /* the name a whole file gets; NULL when it has it already */
	char *temporary;  /* the name it has until then, where it needs one */

	/* With %n or %t in the name: */
	bool each;	 /* a file for each report */
	uint32_t number; /* of the report, from 1 */
	time_t since;	 /* when it began */
	char *expanded;	 /* the name of this one's file */
};

struct outputs {
	struct output *list;
	uint32_t n;
};

/* `in_place`: reports follow one another, so files are written where they are. */
int outputs_open(const struct plan *plan, bool in_place, struct outputs *ret_outputs,
		 struct error *err);
/* Before a report: there is a stream. */
int output_begin(struct output *output, struct error *err);
/* After a report: everything written so far has to be on its way. */
int output_flush(struct output *output, struct error *err);
/* At the end: flushes, and gives the file its name, if there was a report for it. */
int output_finish(struct output *output, struct error *err);
/* Whatever was not finished leaves nothing behind. */
void outputs_close(struct outputs *outputs);

#endif
