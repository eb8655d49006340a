/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording: a tally, its names and what the measurement was, in a file; so that any report
 * can be printed later, elsewhere, without root, and everything to the right of the tally can be
 * tested. The format is documented in docs/recording.md; it is versioned and checked on load.
 */
#ifndef STACKTALLY_RECORDING_RECORDING_H
#define STACKTALLY_RECORDING_RECORDING_H

#include <stdio.h>

#include "base/error.h"
#include "tally/names.h"
#include "tally/tally.h"
#include "view/profile.h"

struct recording {
	struct profile_meta meta; /* strings belong to the recording */
	struct tally *tally;
	struct names *names;
};

/* Writes to the stream; 0 or a negative errno. The caller flushes and checks the stream. */
int recording_save(FILE *out, const struct profile_meta *meta, const struct tally *tally,
		   const struct names *names, struct error *err);

/*
 * Loads a whole recording. Anything malformed, truncated or out of bounds is an error that names
 * the offset in the file; then nothing is returned. Memory is bounded by the size of the file.
 */
int recording_load(int fd, const char *path, struct recording **ret_recording, struct error *err);
void recording_free(struct recording *recording);

#endif
