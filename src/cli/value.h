/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the text of one value to what its option's field holds, with argparse's and bcc's words
 * for what is wrong with it. Numbers are read as Python's int() reads them: blanks around, a
 * sign, underscores between digits.
 */
#ifndef STACKTALLY_CLI_VALUE_H
#define STACKTALLY_CLI_VALUE_H

#include "cli/options.h"

/* What is wrong with a value. */
struct value_error {
	char text[400];
};

/*
 * Stores the value at `field`. 0, -EINVAL with `why` filled, or -ENOMEM. Lists at the field are
 * freed (OPTION_IDS) or grow (OPTION_STRINGS).
 */
int value_store(const struct option_row *row, const char *text, void *field,
		struct value_error *why);

/* The text as Python's repr() shows it, cut to fit. */
void value_repr(const char *text, char *buffer, size_t size);

#endif
