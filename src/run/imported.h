/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Imports the report of another program (import/baseline.h) in a confined child, which answers with
 * a recording: the checks of recordings are then all that its input can reach in our process.
 */
#ifndef STACKTALLY_RUN_IMPORTED_H
#define STACKTALLY_RUN_IMPORTED_H

#include "base/error.h"
#include "recording/recording.h"

/* As recording_load(). */
int imported_load(int fd, const char *path, struct recording **ret_recording, struct error *err);

#endif
