/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many user frames have no symbol, and in which files. Generated code is left out, as no symbol
 * can be had for it.
 */
#ifndef STACKTALLY_VIEW_UNNAMED_H
#define STACKTALLY_VIEW_UNNAMED_H

#include "base/own.h"
#include "tally/names.h"
#include "tally/tally.h"

struct unnamed_file {
	uint32_t object; /* of the names */
	/* User frames in it, as often as they were counted, and those without a symbol. */
	uint64_t frames, unnamed;
};

struct unnamed {
	struct unnamed_file *files; /* that have frames, the one with most unnamed frames first */
	uint32_t n;
	uint64_t frames, unnamed; /* of all files, and of none */
};

/* 0 or -ENOMEM; unnamed_clear() in both cases. */
int unnamed_count(const struct tally *tally, const struct names *names,
		  struct unnamed *ret_unnamed);
void unnamed_clear(struct unnamed *unnamed);

#define UNNAMED_LINE_SIZE 512

/*
 * A line that names the files and refers to `command` --symbols. It is "" if few frames have no
 * symbol, or if no file is known for any of those.
 */
void unnamed_line(const struct unnamed *unnamed, const struct names *names, const char *command,
		  char ret_line[UNNAMED_LINE_SIZE]);

#endif
