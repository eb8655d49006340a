/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The spellings of an option in usage, help and man page. Internal to cli/.
 */
#ifndef STACKTALLY_CLI_OPTION_NAME_H
#define STACKTALLY_CLI_OPTION_NAME_H

#include "cli/options.h"

/* For help: "-p PID, --pid PID". Fills and returns the buffer. */
const char *option_invocation(const struct option_row *row, char buffer[static OPTION_NAME_SIZE]);

/* The number of rows from `first` on that exclude each other; 1 if the row excludes none. */
size_t option_group(const struct command_line *line, size_t first);

#endif
