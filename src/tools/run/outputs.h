/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The outputs of a run: stdout and files, each with its format. They are opened before the
 * measurement, so that an output that cannot be written stops the run at its start.
 *
 * A file gets its name when it is complete; until then it has none, or a temporary one. At
 * intervals, reports are appended in place, to a file that is there from the start; a path with
 * %n (1, 2 ...) or %t (local time at which the interval began) has a file per report instead.
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
	const struct writer *writer;
	const char *path; /* as in the plan; NULL: stdout */
	FILE *stream;	  /* NULL between two files of `each` */
	char *buffer;
	char *final_path; /* the name the file gets when it is complete; NULL: it has it */
	char *temporary;  /* its name until then; NULL: it has none */

	bool redraws; /* a terminal: each report replaces the one before */

	bool each;	 /* the path has %n or %t: a file per report */
	uint32_t number; /* of the report, from 1 */
	time_t since;	 /* when its interval began */
	char *expanded;	 /* the path of its file */
};

struct outputs {
	struct output *list;
	uint32_t n;
};

/*
 * `intervals`: there may be several reports. `since`: when the measurement began; 0: now. The plan
 * must outlive the outputs. 0 or a negative errno with `err` set; outputs_close() is due only
 * after 0.
 */
int outputs_open(const struct plan *plan, bool intervals, time_t since, struct outputs *ret_outputs,
		 struct error *err);
/* The terminal that the output is for. */
struct report_screen output_screen(const struct output *output);
/* Before each report: afterwards there is a stream. 0 or a negative errno. */
int output_begin(struct output *output, struct error *err);
/* After each report: passes the stream's bytes to the kernel; names a file of `each`. */
int output_flush(struct output *output, struct error *err);
/* After the last report: flushes the other outputs and names their files. */
int output_finish(struct output *output, struct error *err);
/* Files that were not finished leave nothing behind, except those written in place. */
void outputs_close(struct outputs *outputs);

#endif
