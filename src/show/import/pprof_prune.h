/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frames that a pprof file wants left out, as pprof leaves them out: what functions call that
 * match drop_frames and not keep_frames (profile.proto), together with these functions. Both are
 * regular expressions of Go's regexp; they have to match the whole name without its arguments.
 */
#ifndef STACKTALLY_IMPORT_PPROF_PRUNE_H
#define STACKTALLY_IMPORT_PPROF_PRUNE_H

#include <regex.h>
#include <stdbool.h>

#include "base/error.h"
#include "import/pprof_file.h"

struct pprof_prune {
	regex_t drop, keep;
	bool drops, keeps; /* there is one */
};

/*
 * 0, or a negative errno and an error: -EINVAL if an expression is none that is understood.
 * pprof_prune_clear() is due in both cases.
 */
int pprof_prune_start(struct pprof_prune *prune, const struct pprof_file *file, struct error *err);
void pprof_prune_clear(struct pprof_prune *prune);

/* Whether a function of that name is left out. */
bool pprof_prune_matches(const struct pprof_prune *prune, const char *name);

#endif
