/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line of stackcount: its table of options and the struct that receives their values.
 * options_clear() frees the lists; strings point into argv.
 */
#ifndef STACKTALLY_COMMANDS_STACKCOUNT_OPTIONS_H
#define STACKTALLY_COMMANDS_STACKCOUNT_OPTIONS_H

#include "commands/shared_options.h"

struct stackcount_options {
	struct shared_options shared;
	bool timestamp, regexp, per_process;
	bool time, leaks;
	bool list;    /* -l */
	bool inlined; /* --inlined */
	double older;
	bool verbose_address;	     /* -v: a column of raw addresses */
	const char *pattern;	     /* NULL only with --from or --leaks */
	const char *outstanding;     /* what allocates, and the pattern frees; or NULL */
	const char *condition, *sum; /* --if, --sum; or NULL */
};

/* What options_parse() starts from. */
#define STACKCOUNT_OPTIONS_DEFAULT                                                                 \
	{                                                                                          \
		.shared = SHARED_OPTIONS_DEFAULT                                                   \
	}

extern const struct command_line stackcount_command_line;
extern const struct manual_section stackcount_manual[]; /* manual.c */

#endif
