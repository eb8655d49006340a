/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording: a measurement's tally, names and facts in a file, from which any report can be
 * printed later, on another machine, without root. docs/recording.md describes the format; it has
 * a version and checksums. Tests use recordings to check everything that works on a tally.
 */
#ifndef STACKTALLY_RECORDING_RECORDING_H
#define STACKTALLY_RECORDING_RECORDING_H

#include <stdio.h>

#include "base/error.h"
#include "tally/names.h"
#include "tally/tally.h"
#include "tally/timeline.h"
#include "view/profile.h"

struct recording {
	struct profile_meta meta; /* its strings belong to `names` */
	struct tally *tally;
	struct names *names;
	struct timeline timeline; /* when that was counted, if timeline_tells() */
};

/*
 * Writes to the stream. `timeline`, which may be NULL, is left out unless it tells all of the
 * tally. 0 or a negative errno with `err` set: -EINVAL if an address of the tally
 * has no name, -ENOMEM, or that of a failed write. The caller flushes and checks the stream.
 */
int recording_save(FILE *out, const struct profile_meta *meta, const struct tally *tally,
		   const struct names *names, const struct timeline *timeline, struct error *err);

/*
 * Loads a recording from a regular file; the file may be hostile. 0, or a negative errno and an
 * error that names `path` and the offset of the malformed, truncated or excessive value. Memory is
 * proportional to the size of the file. The descriptor remains the caller's.
 */
int recording_load(int fd, const char *path, struct recording **ret_recording, struct error *err);
void recording_free(struct recording *recording);

#endif
