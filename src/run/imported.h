/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads a recording, or the report of another program (import/baseline.h), which may be hostile: a
 * confined child reads the file and answers with a recording of this version. The checks of that
 * are then all that the file can reach in our process.
 */
#ifndef STACKTALLY_RUN_IMPORTED_H
#define STACKTALLY_RUN_IMPORTED_H

#include <stdbool.h>

#include "base/error.h"
#include "recording/recording.h"

/* As recording_load(). *ret_imported: the file is the report of another program. */
int imported_load(int fd, const char *path, struct recording **ret_recording, bool *ret_imported,
		  struct error *err);

#endif
