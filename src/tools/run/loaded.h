/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A measurement loaded from a file or a pipe, for --from and as the base of --diff: a recording or
 * the report of another program.
 */
#ifndef STACKTALLY_RUN_LOADED_H
#define STACKTALLY_RUN_LOADED_H

#include <stdbool.h>

#include "base/error.h"
#include "plan/range.h"
#include "report/report.h"
#include "run/imported.h"

struct loaded {
	struct imported imported;	/* what was in the file */
	struct measurement measurement; /* borrowed from it; meta is NULL if there is none */
	struct measurement before;	/* the same, of a file that is a difference */
	char *path;			/* without a range */
	struct plan_range range; /* that the path ended with: to be taken of the measurement */
};

/* Loads nothing if `path` is NULL. `value`: --value, or NULL. 0 or a negative errno; loaded_clear()
 * is due in both cases. */
int loaded_load(const char *path, const char *value, struct loaded *loaded, struct error *err);
void loaded_clear(struct loaded *loaded);

#endif
