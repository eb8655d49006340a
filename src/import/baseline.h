/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A base to compare with, read from another program's report: folded text, or pprof's
 * profile.proto with gzip or without. It becomes a tally and names, as a recording does, so that
 * whatever shows profiles can show it.
 *
 * The input may be hostile. Memory is bounded by its size, that of pprof by BASE_UNPACKED_MAX.
 */
#ifndef STACKTALLY_IMPORT_BASELINE_H
#define STACKTALLY_IMPORT_BASELINE_H

#include <stddef.h>

#include "base/error.h"
#include "tally/names.h"
#include "tally/tally.h"
#include "view/profile.h"

#define BASE_FILE_MAX	  ((size_t)1 << 30)
#define BASE_UNPACKED_MAX ((size_t)1 << 29)

struct base {
	struct profile_meta meta; /* what the file tells of it: most is not known */
	struct tally *tally;
	struct names *names;
};

/* Reads a regular file. 0 or a negative errno, then with an error that names `path`. */
int base_load(int fd, const char *path, struct base **ret_base, struct error *err);
/* The same from memory. */
int base_read(const char *bytes, size_t size, struct base **ret_base, struct error *err);
void base_free(struct base *base);

#endif
