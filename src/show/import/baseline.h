/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Imports the report of another program, for --from and --diff: folded text, the text of perf
 * script, the JSON of speedscope and of the Firefox Profiler, or pprof's profile.proto, gzipped or
 * not. The result is a tally and names, as a recording
 * gives.
 *
 * The input may be hostile. Memory is proportional to its size, which is limited as below.
 */
#ifndef STACKTALLY_IMPORT_BASELINE_H
#define STACKTALLY_IMPORT_BASELINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "tally/names.h"
#include "tally/tally.h"
#include "tally/timeline.h"
#include "view/profile.h"

/* Bytes of a file, and of an unpacked pprof message. */
#define BASELINE_FILE_MAX     ((size_t)1 << 30)
#define BASELINE_UNPACKED_MAX ((size_t)1 << 29)

struct baseline {
	struct profile_meta meta; /* mostly empty: such files say little */
	struct tally *tally;
	struct names *names;
	struct timeline timeline; /* when that was counted, if timeline_tells() */
	bool has_addresses; /* those of the tally are the program's, not only different numbers */
	/* The measurement of the first counts, where folded lines have two; else NULL. */
	struct baseline *before;
	char notes[900];  /* what else is in the file, and is not shown; or "" */
	char losses[200]; /* what of it could not be read; or "" */
};

/*
 * Reads a regular file. `value` is the name of the value to read of a pprof file, which other files
 * do not have; or NULL. 0, or a negative errno and an error that names `path`.
 */
int baseline_load(int fd, const char *path, const char *value, struct baseline **ret_base,
		  struct error *err);
/* As baseline_load(), from memory. */
int baseline_read(const char *bytes, size_t size, const char *value, struct baseline **ret_base,
		  struct error *err);
/* An empty one. 0, or -ENOMEM and an error. */
int baseline_new(struct baseline **ret_base, struct error *err);
void baseline_free(struct baseline *base);

#endif
