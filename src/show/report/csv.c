// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of functions, separated by commas (function_rows.h). */
#include "report/function_rows.h"
#include "report/writer.h"

static int csv_write(const struct report *report, FILE *out, struct error *err)
{
	return function_rows_write(report, ',', out, err);
}

static const char *const extensions[] = { ".csv", NULL };

const struct writer csv_writer = {
	.name = "csv",
	.description = "functions by self and total, separated by commas",
	.extensions = extensions,
	.diffs = true,
	.whole = true,
	.view = function_rows_view,
	.write = csv_write,
};
