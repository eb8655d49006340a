/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracefs and debugfs as directories to open files in: where they are mounted, else a mount of our
 * own (fsopen(2), fsmount(2)) that is in no mount table and ends with its descriptors.
 */
#ifndef STACKTALLY_TRIGGER_TRACEFS_H
#define STACKTALLY_TRIGGER_TRACEFS_H

#include <stdio.h>

#include "base/error.h"

/* A close-on-exec descriptor of the directory, which the caller closes, or a negative errno. */
int tracefs_open(struct error *err);
int debugfs_open(struct error *err);

/* Opens a file in such a directory for reading; NULL and errno on failure. */
FILE *tracefs_file(int directory, const char *path);

#endif
