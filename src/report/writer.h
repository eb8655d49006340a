/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writers: a profile in, bytes out. One file a format; the list is in writer.c.
 */
#ifndef STACKTALLY_REPORT_WRITER_H
#define STACKTALLY_REPORT_WRITER_H

#include <stdio.h>

#include "base/error.h"
#include "view/profile.h"
#include "view/report_options.h"

struct writer {
	const char *name;	       /* what --format takes */
	const char *description;       /* one line, for --help */
	const char *const *extensions; /* of file names, with the dot, NULL-terminated */
	bool binary;		       /* not for a terminal */
	bool diffs;		       /* shows differences to profile->base */
	bool whole;		       /* one report a file: nothing before, between or after */
	uint32_t (*view)(const struct report_options *options); /* PROFILE_VIEW_* it wants */
	/* Returns 0 or a negative errno; the caller checks the stream for write errors. */
	int (*write)(const struct profile *profile, const struct report_options *options, FILE *out,
		     struct error *err);
};

extern const struct writer text_writer, folded_writer, pprof_writer, speedscope_writer, json_writer,
	perf_script_writer, svg_writer, html_writer;

/* NULL-terminated, in the order --help shows them; the first is the default. */
extern const struct writer *const writers[];

const struct writer *writer_by_name(const char *name);
/* For writers: what became of their bytes. A write error is the stream's, and not reported here. */
int report_result(int r, struct error *err);

/* The writer whose extension ends the path, the longest one winning; or NULL. */
const struct writer *writer_by_path(const char *path);

#endif
