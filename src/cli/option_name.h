/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How an option is written: the pieces usage, help, man page and messages are made of.
 */
#ifndef STACKTALLY_CLI_OPTION_NAME_H
#define STACKTALLY_CLI_OPTION_NAME_H

#include "cli/options.h"

#define OPTION_NAME_SIZE 128

/* What messages call it: "-p/--pid", "--event", "duration". Fills and returns the buffer. */
const char *option_name(const struct option_row *row, char buffer[static OPTION_NAME_SIZE]);

/* As help shows it: "-p PID, --pid PID". */
const char *option_invocation(const struct option_row *row, char buffer[static OPTION_NAME_SIZE]);

/* The run of rows from `first` on that exclude each other: 1 when the row is by itself. */
size_t option_group(const struct command_line *line, size_t first);

#endif
