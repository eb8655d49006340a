/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a report is made of, live or loaded, and its way to all outputs that were asked for. Must
 * not know how it was measured.
 */
#ifndef STACKTALLY_RUN_RUN_REPORT_H
#define STACKTALLY_RUN_RUN_REPORT_H

#include <stdbool.h>

#include "run/compared.h"
#include "run/outputs.h"
#include "run/run.h"
#include "tally/names.h"
#include "tally/tally.h"

struct run_report {
	const struct run_request *request;
	struct profile_meta meta;
	struct tally *tally; /* borrowed, as the names are */
	struct names *names;
	struct compared compared;
	struct outputs outputs;
	bool reported; /* a report went out before: the next one is told apart */
};

/* Loads what is compared with, and opens the outputs; `intervals`: there may be many reports. */
int run_report_open(struct run_report *report, bool intervals, struct error *err);
/* Whatever was not finished leaves nothing behind. */
void run_report_close(struct run_report *report);

/* The title goes to stdout as soon as events count, not only with the report. */
int run_report_announce(struct run_report *report, struct error *err);
/* Writes the tally to all outputs; `titled`: stdout has its title already. */
int run_report_write(struct run_report *report, bool titled, struct error *err);
/* The files are whole. */
int run_report_finish(struct run_report *report, struct error *err);

#endif
