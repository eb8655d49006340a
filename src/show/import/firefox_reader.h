/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the processed format of the Firefox Profiler, which it saves, and which samply and others
 * write: the samples of all threads. Markers, and where CPU time was measured as well, are not
 * read.
 */
#ifndef STACKTALLY_IMPORT_FIREFOX_READER_H
#define STACKTALLY_IMPORT_FIREFOX_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "tally/names.h"
#include "tally/tally.h"
#include "view/profile.h"

/* Whether this JSON is such a file. */
bool firefox_reader_knows(const char *text, size_t size);

/* Fills tally and names, which are empty. 0, or a negative errno and an error. */
int firefox_read(const char *text, size_t size, struct profile_meta *meta, struct tally *tally,
		 struct names *names, struct error *err);

#endif
