/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads pprof's profile.proto, not gzipped, ours or another program's, with the checks of
 * import/pprof_file.h and the value of import/pprof_values.h. It takes the labels comm (or thread),
 * pid and tid. Locations in a mapping whose name begins with "[kernel" are the kernel's; those
 * without lines are named after their mapping and address.
 */
#ifndef STACKTALLY_IMPORT_PPROF_READER_H
#define STACKTALLY_IMPORT_PPROF_READER_H

#include <stddef.h>

#include "base/error.h"
#include "tally/names.h"
#include "tally/tally.h"
#include "view/profile.h"

/* Fills tally and names, which are empty. `value` names the value to read, or is NULL. 0, or a
 * negative errno, -ENOEXEC if they are no such file, and an error. */
int pprof_read(const char *bytes, size_t size, const char *value, struct profile_meta *meta,
	       struct tally *tally, struct names *names, struct error *err);

#endif
