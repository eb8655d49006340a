/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A report: what it is made of, and the one way every report takes to its stream, whether that is
 * stdout, a file or the answer to a request of the live page.
 *
 * Everything in these structs is borrowed for the duration of the call.
 */
#ifndef STACKTALLY_REPORT_REPORT_H
#define STACKTALLY_REPORT_REPORT_H

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "base/error.h"
#include "view/profile.h"
#include "view/report_options.h"

struct timeline;
struct writer;

/* What was counted, with a name for every address of the tally. */
struct measurement {
	const struct profile_meta *meta;
	const struct tally *tally;
	const struct names *names;
	const struct timeline *timeline; /* NULL: it is not known when */
};

/* What precedes a report in a stream that may hold several. Writers of whole files get none. */
struct report_head {
	bool title;   /* the title line is still to be written; formats without one ignore this */
	bool follows; /* the stream has a report already */
	time_t time;  /* shown on a line of its own, as local time; 0: no such line */
};

/* The terminal that a report is for. */
struct report_screen {
	uint32_t width, height; /* 0: it is for none; height 0: it may be longer */
	bool colours;
};

struct report {
	struct measurement measurement;
	const struct measurement *base; /* --diff: what to compare with; or NULL */
	bool base_has_names_only;	/* the base's frames are function names, without modules */
	const char *base_name;		/* its file; or NULL */
	const struct report_options *options;
	struct report_head head;
	struct report_screen screen;
	/* For writers: the measurement in the view they asked for. Set by report_write(). */
	const struct profile *profile;
};

/*
 * The measurement in a view of PROFILE_VIEW_* flags, with its base in the same one. 0 or a negative
 * errno; profile_clear() both in both cases.
 */
int report_build(const struct report *report, uint32_t view, struct profile *profile,
		 struct profile *base);

/* What a report has of a measurement. */
struct report_shown {
	uint32_t stacks;
	uint64_t counts, left_out; /* that the filter shows, and leaves out */
	uint64_t as_others;	   /* of waits that began before the start, shown as others */
};

/*
 * Builds the profile that the writer wants and writes head and report to `out`. *ret_shown, which
 * may be NULL, is what is in it; untouched if the writer builds none. 0 or a negative
 * errno with `err` set; write errors may also show up only in ferror(out), so check that too.
 */
int report_write(const struct writer *writer, const struct report *report, FILE *out,
		 struct report_shown *ret_shown, struct error *err);

/*
 * For writers to return: `r` is 0, or what their formatting failed with. A failed write (-EIO) is
 * not reported here, as ferror(out) has it.
 */
int report_result(int r, struct error *err);

#endif
