// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/writer.h"

#include <errno.h>
#include <string.h>

const struct writer *const writers[] = {
	&text_writer,	    &folded_writer, &svg_writer,	 &html_writer, &pprof_writer,
	&speedscope_writer, &json_writer,   &perf_script_writer, NULL,
};

const struct writer *writer_by_name(const char *name)
{
	for (const struct writer *const *writer = writers; *writer; writer++)
		if (strcmp((*writer)->name, name) == 0)
			return *writer;
	return NULL;
}

static size_t matched(const char *path, const char *extension)
{
	size_t size = strlen(path), end = strlen(extension);

	return end < size && strcmp(path + size - end, extension) == 0 ? end : 0;
}

const struct writer *writer_by_path(const char *path)
{
	const struct writer *best = NULL;
	size_t longest = 0;

	for (const struct writer *const *writer = writers; *writer; writer++) {
		for (const char *const *extension = (*writer)->extensions; *extension;
		     extension++) {
			if (matched(path, *extension) > longest) {
				longest = matched(path, *extension);
				best = *writer;
			}
		}
	}
	return best;
}

int report_result(int r, struct error *err)
{
	if (r == -EIO)
		return 0; /* the stream keeps the error for its owner */
	if (r < 0)
		return error_set(err, r, "cannot write the report: %s", strerror(-r));
	return 0;
}
