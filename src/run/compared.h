/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The base of --diff: a measurement loaded from a recording, folded text or pprof's format.
 */
#ifndef STACKTALLY_RUN_COMPARED_H
#define STACKTALLY_RUN_COMPARED_H

#include "base/error.h"
#include "import/baseline.h"
#include "recording/recording.h"
#include "report/report.h"

struct compared {
	struct recording *recording; /* owned; one of the two, or none */
	struct baseline *base;
	struct measurement measurement; /* borrowed from it; meta is NULL if there is none */
};

/* Loads nothing if `path` is NULL. 0 or a negative errno; compared_clear() is due in both cases. */
int compared_load(const char *path, struct compared *compared, struct error *err);
void compared_clear(struct compared *compared);

#endif
