/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts the text of one value to the type of its option's field, with argparse's and bcc's
 * error messages. Numbers are read as Python's int() reads them: blanks around, a sign,
 * underscores between digits.
 */
#ifndef STACKTALLY_CLI_VALUE_H
#define STACKTALLY_CLI_VALUE_H

#include "cli/options.h"

/* The message for a wrong value. */
struct value_error {
	char text[400];
};

/*
 * Stores the value at `field`: OPTION_IDS replaces the list there, OPTION_STRINGS appends to it.
 * 0, -ENOMEM, or -EINVAL with `why` filled.
 */
int value_store(const struct option_row *row, const char *text, void *field,
		struct value_error *why);

/* The text as Python's repr() shows it, cut to fit `size`. */
void value_repr(const char *text, char *buffer, size_t size);

#endif
