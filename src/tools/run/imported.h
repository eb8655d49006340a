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

struct imported_file {
	int fd;
	const char *path;  /* for messages */
	const char *value; /* --value; or NULL */
};

struct imported {
	struct recording *recording;  /* owned; or NULL */
	struct recording *before;     /* owned: what it is compared with, or NULL */
	bool of_others;		      /* the file is the report of another program */
	bool no_addresses;	      /* ... that holds names only, no addresses */
	char notes[900], losses[200]; /* as in struct baseline; or "" */
};

/* As recording_load(). imported_clear() is due in both cases. */
int imported_load(const struct imported_file *file, struct imported *imported, struct error *err);
void imported_clear(struct imported *imported);

#endif
