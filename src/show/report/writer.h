/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writers: each turns a report into the bytes of one format, and has a file of its own. The list
 * is report/formats.h. Writers have no state: any thread may call them.
 */
#ifndef STACKTALLY_REPORT_WRITER_H
#define STACKTALLY_REPORT_WRITER_H

#include <stdio.h>

#include "base/error.h"
#include "report/formats.h"
#include "report/report.h"

/* Whether a format shows when samples were taken. */
enum writer_times {
	WRITER_TIMES_NONE,
	WRITER_TIMES_SECONDS, /* in which second */
	WRITER_TIMES_FINE,    /* as a viewer of single samples */
};

struct writer {
	const char *name;	       /* what --format takes, as in report/formats.h */
	const char *description;       /* one line, for the live page's list of formats */
	const char *const *extensions; /* of file names, with the dot, NULL-terminated, not empty */
	bool binary;		       /* refused on a terminal */
	bool diffs;		       /* may be used with --diff */
	bool dumps;		       /* ... with --dump */
	bool whole;  /* a file holds one report, with nothing before or after it */
	bool titled; /* begins with the title and a blank line */
	bool wraps;  /* the title is broken where the terminal ends; bcc's layout has one line */
	enum writer_times times;
	/* The PROFILE_VIEW_* flags of what the format shows; NULL: no profile is built. */
	uint32_t (*view)(const struct report_options *options);
	/* 0 or a negative errno with `err` set; the caller also checks ferror(out). */
	int (*write)(const struct report *report, FILE *out, struct error *err);
};

/* The flags to build the profile with, for a writer that has `view`. */
static inline uint32_t writer_view(const struct writer *writer,
				   const struct report_options *options)
{
	return writer->view(options) | report_options_hidden(options);
}

#define WRITER_DECLARE(id, name) extern const struct writer id##_writer;
REPORT_FORMATS(WRITER_DECLARE, WRITER_DECLARE, WRITER_DECLARE)

/* NULL-terminated, in the order of the list. */
extern const struct writer *const writers[];

/* NULL when no writer has this name. */
const struct writer *writer_by_name(const char *name);

/* The writer whose extension ends the path, the longest one winning; or NULL. */
const struct writer *writer_by_path(const char *path);

#endif
