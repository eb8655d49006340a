// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of functions, separated by tabs (function_rows.h). */
#include "report/function_rows.h"
#include "report/writer.h"

static int tsv_write(const struct report *report, FILE *out, struct error *err)
{
	return function_rows_write(report, '\t', out, err);
}

static const char *const extensions[] = { ".tsv", NULL };

const struct writer tsv_writer = {
	.name = "tsv",
	.description = "functions by self and total, separated by tabs",
	.extensions = extensions,
	.diffs = true,
	.whole = true,
	.view = function_rows_view,
	.write = tsv_write,
};
