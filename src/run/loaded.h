/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A measurement loaded from a file, for --from and as the base of --diff: a recording, folded text
 * or pprof's format.
 */
#ifndef STACKTALLY_RUN_LOADED_H
#define STACKTALLY_RUN_LOADED_H

#include <stdbool.h>

#include "base/error.h"
#include "recording/recording.h"
#include "report/report.h"

struct loaded {
	struct recording *recording;	/* owned; or NULL */
	bool imported;			/* it was the report of another program */
	struct measurement measurement; /* borrowed from it; meta is NULL if there is none */
};

/* Loads nothing if `path` is NULL. 0 or a negative errno; loaded_clear() is due in both cases. */
int loaded_load(const char *path, struct loaded *loaded, struct error *err);
void loaded_clear(struct loaded *loaded);

#endif
