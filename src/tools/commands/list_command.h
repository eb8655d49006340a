/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stackcount -l: what a pattern would probe, one probe a line, indented lines about each. */
#ifndef STACKTALLY_COMMANDS_LIST_COMMAND_H
#define STACKTALLY_COMMANDS_LIST_COMMAND_H

struct spec_request;

/* Prints errors; returns the exit code. */
int list_command(const char *program, const struct spec_request *request);

#endif
