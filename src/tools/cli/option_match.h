/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Distinguishes options from values by argparse's rules, and finds the row of an option. Internal
 * to cli/.
 */
#ifndef STACKTALLY_CLI_OPTION_MATCH_H
#define STACKTALLY_CLI_OPTION_MATCH_H

#include "cli/options.h"

enum argument_class { ARGUMENT_VALUE, ARGUMENT_OPTION };

/* An argument that begins like an option. */
struct option_match {
	const struct option_row *row; /* NULL: no such option */
	const char *attached;	      /* the value in the same argument, or NULL */
	bool is_long;
};

/* The class of an argument; an option fills `ret_match`. -EINVAL and `err`: ambiguous prefix. */
int option_match(const struct command_line *line, const char *argument,
		 struct option_match *ret_match, struct error *err);

/* The number of a row of the command line. */
size_t option_number(const struct command_line *line, const struct option_row *row);

const struct option_row *option_by_letter(const struct command_line *line, char letter);
const struct option_row *option_by_name(const struct command_line *line, const char *name,
					size_t length);

#endif
