/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the text that `perf script` prints: for each sample a line `COMM PID/TID [CPU] TIME: PERIOD
 * EVENT: FIELDS` and its stack, leaf first, a frame a line, `ADDRESS NAME+OFFSET (FILE)`; what perf
 * was told to leave out may be missing (perf_line.h). Samples are counted; their periods and times
 * are not kept. A frame without a name is called by its file.
 */
#ifndef STACKTALLY_IMPORT_PERF_READER_H
#define STACKTALLY_IMPORT_PERF_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "tally/names.h"
#include "tally/tally.h"
#include "view/profile.h"

/* Whether the text begins as such. */
bool perf_reader_knows(const char *text, size_t size);

/*
 * Fills tally and names, which are empty. 0, or a negative errno and an error that names the line:
 * -EBADMSG for one that is neither of a sample nor of a frame, and for samples of two events, whose
 * sum means nothing, unless `event` (or NULL) says of which they are read; -EINVAL: none is of it.
 */
int perf_read(const char *text, size_t size, const char *event, struct profile_meta *meta,
	      struct tally *tally, struct names *names, struct error *err);

#endif
