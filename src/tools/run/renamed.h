/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that a recording gets afterwards: its functions without a symbol, [FILE+0xSTART], are
 * looked up by the build-id of their file in a directory of debug files (--debuginfo) and at the
 * servers of DEBUGINFOD_URLS.
 */
#ifndef STACKTALLY_RUN_RENAMED_H
#define STACKTALLY_RUN_RENAMED_H

#include "base/error.h"
#include "tally/names.h"

/*
 * A copy of `names` with the names that were found; NULL if there is nowhere to look. `directory`
 * may be NULL. The caller frees the copy. 0, or a negative errno with `err` set.
 */
int renamed_make(const struct names *names, const char *directory, struct names **ret_names,
		 struct error *err);

#endif
