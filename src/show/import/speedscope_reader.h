/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the format of speedscope, sampled and evented profiles: py-spy, rbspy, austin and others
 * write it. All profiles of a file are read; their names become comms. Weights of time are ns.
 */
#ifndef STACKTALLY_IMPORT_SPEEDSCOPE_READER_H
#define STACKTALLY_IMPORT_SPEEDSCOPE_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "tally/names.h"
#include "tally/tally.h"
#include "view/profile.h"

/* Whether this JSON is such a file. */
bool speedscope_reader_knows(const char *text, size_t size);

/* Fills tally and names, which are empty. 0, or a negative errno and an error. */
int speedscope_read(const char *text, size_t size, struct profile_meta *meta, struct tally *tally,
		    struct names *names, struct error *err);

#endif
