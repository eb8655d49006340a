/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracefs and debugfs, as directories to open files in: where they are mounted, else a mount of
 * our own that no other process and no mount table sees, and that goes with its descriptors.
 */
#ifndef STACKTALLY_TRIGGER_TRACEFS_H
#define STACKTALLY_TRIGGER_TRACEFS_H

#include <stdio.h>

#include "base/error.h"

/* The directory's descriptor, close-on-exec, to be closed by the caller; or a negative errno. */
int tracefs_open(struct error *err);
int debugfs_open(struct error *err);

/* A file in such a directory, for reading; NULL and errno where it cannot be opened. */
FILE *tracefs_file(int directory, const char *path);

#endif
