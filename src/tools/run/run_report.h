/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reports of one run: from what was counted, or loaded, to all outputs. Must not know how it
 * was measured.
 */
#ifndef STACKTALLY_RUN_RUN_REPORT_H
#define STACKTALLY_RUN_RUN_REPORT_H

#include <stdbool.h>
#include <time.h>

#include "run/loaded.h"
#include "run/outputs.h"
#include "run/part.h"
#include "run/run.h"
#include "tally/names.h"
#include "tally/tally.h"
#include "tally/timeline.h"

struct run_report {
	const struct run_request *request; /* borrowed, as tally and names are */
	struct profile_meta meta;
	const struct tally *tally;
	const struct names *names;
	const struct timeline *timeline;  /* when the tally was counted; or NULL */
	const char *instead;		  /* as in struct trigger; or NULL */
	const struct comms *others;	  /* that --name left out; or NULL */
	uint64_t own_events;		  /* left out: of this process and its helpers */
	uint64_t unmet;			  /* left out: they did not meet --if */
	bool saved;			  /* loaded from a file, not measured now */
	time_t began, ended;		  /* of a saved one; 0: not known */
	const struct measurement *before; /* borrowed: what a file is a difference to; or NULL */
	struct loaded loaded;		  /* for --diff */
	struct part base;		  /* what this measurement's filters leave of it */
	struct names *base_apart; /* the names of `base`, if files were rebuilt (rebuilt.h) */
	struct outputs outputs;
	/* In the last report on stdout or, if there is none, in a file; no stacks: none. */
	struct report_shown shown;
	bool announced; /* stdout has the title already */
	bool reported;	/* a report was written */
	bool grew;	/* --fail-if-more: a function did */
};

/*
 * Loads the base of --diff and opens the outputs; `intervals`: there may be several reports. All
 * functions here return 0 or a negative errno with `err` set.
 */
int run_report_open(struct run_report *report, bool intervals, struct error *err);
/*
 * With --diff, once the facts of the measurement but its duration are known: an error if it cannot
 * be compared.
 */
int run_report_compare(const struct run_report *report, struct error *err);
/* Removes the temporary files of outputs that were not finished. Due after run_report_open(). */
void run_report_close(struct run_report *report);

/* Writes the title to stdout when the measurement begins, ahead of the report. */
int run_report_announce(struct run_report *report, struct error *err);
/* Writes a report of the tally to every output, and its warnings and closing line to stderr. */
int run_report_write(struct run_report *report, struct error *err);
/* After the last report: completes the files. */
int run_report_finish(struct run_report *report, struct error *err);

#endif
