/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What completions of several shells need of an option. Internal to cli/.
 */
#ifndef STACKTALLY_CLI_COMPLETION_WORDS_H
#define STACKTALLY_CLI_COMPLETION_WORDS_H

#include <stdbool.h>
#include <string.h>

#include "cli/options.h"

#define COMPLETION_SAYS_SIZE 80

/* The beginning of the help, up to where a sentence may end, without characters that shells or
 * their completions take for their own. */
const char *completion_says(const struct option_row *row, char ret_text[COMPLETION_SAYS_SIZE]);

/* Whether the option has a value that stands behind it. */
static inline bool completion_has_value(const struct option_row *row)
{
	return row->metavar && row->kind != OPTION_STRING_OR_NOT;
}

/* Whether the value is one of the words in `completes`. */
static inline bool completion_has_words(const struct option_row *row)
{
	return row->completes && strchr(row->completes, ' ');
}

static inline bool completion_is(const struct option_row *row, const char *kind)
{
	return row->completes && strcmp(row->completes, kind) == 0;
}

/* The first positional argument; NULL: there is none. */
const struct option_row *completion_positional(const struct command_line *line);

#endif
