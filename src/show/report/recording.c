// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The recording as a report format. It holds the tally itself and not a profile of it, so display
 * options and --diff change nothing in it.
 */
#include "recording/recording.h"

#include "report/writer.h"

static int recording_write(const struct report *report, FILE *out, struct error *err)
{
	const struct measurement *measurement = &report->measurement;

	return recording_save(out, measurement->meta, measurement->tally, measurement->names,
			      measurement->timeline, err);
}

static const char *const extensions[] = { ".stacktally", NULL };

const struct writer recording_writer = {
	.name = "recording",
	.description = "everything, for --from",
	.extensions = extensions,
	.binary = true,
	.diffs = true,
	.whole = true,
	.times = WRITER_TIMES_SECONDS,
	.write = recording_write,
};
