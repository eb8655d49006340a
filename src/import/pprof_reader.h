/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof's profile.proto, unpacked, read: ours or another program's. Of its values the one counted
 * in samples or events is taken, else the last; of its labels comm (or thread), pid, tid.
 * Locations in a mapping whose name begins with "[kernel" are the kernel's.
 */
#ifndef STACKTALLY_IMPORT_PPROF_READER_H
#define STACKTALLY_IMPORT_PPROF_READER_H

#include <stddef.h>

#include "base/error.h"
#include "tally/names.h"
#include "tally/tally.h"
#include "view/profile.h"

/* At most so many strings, functions, locations or mappings. */
#define PPROF_READ_MAX (1u << 24)

/* Adds to tally and names, which are empty. 0 or a negative errno, then with an error. */
int pprof_read(const char *bytes, size_t size, struct profile_meta *meta, struct tally *tally,
	       struct names *names, struct error *err);

#endif
