// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/writer.h"

#include <string.h>

#define WRITER_ADDRESS(id, name) &id##_writer,
const struct writer *const writers[] = {
	REPORT_FORMATS(WRITER_ADDRESS, WRITER_ADDRESS, WRITER_ADDRESS) NULL,
};

const struct writer *writer_by_name(const char *name)
{
	for (const struct writer *const *writer = writers; *writer; writer++)
		if (strcmp((*writer)->name, name) == 0)
			return *writer;
	return NULL;
}

/* The length of the extension if it ends the path and is not all of it, else 0. */
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
