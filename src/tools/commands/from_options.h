/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What becomes of each option of both commands when --from reports from a file. No option is
 * ignored: one table says of each whether the report answers it, or why it is refused.
 */
#ifndef STACKTALLY_COMMANDS_FROM_OPTIONS_H
#define STACKTALLY_COMMANDS_FROM_OPTIONS_H

#include "cli/options.h"

enum from_answer {
	FROM_UNDECIDED,	   /* not in the table */
	FROM_ANSWERED,	   /* every file answers it */
	FROM_IF_RECORDED,  /* run_from() answers it if the file holds what it takes, or refuses */
	FROM_OF_NO_EFFECT, /* it is about measuring, and the report would be the same */
	FROM_REFUSED,	   /* no file answers it */
};

/* The answer to the option with that long name; for FROM_REFUSED, `why` is one clause. */
enum from_answer from_option(const char *name, const char **ret_why);

/* 0, or a usage error that names the first option that is refused. */
int from_options_check(const struct command_line *line, const struct options_parsed *parsed,
		       struct error *err);

#endif
