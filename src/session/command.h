/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The launched command: forked early and held back before its exec, so that the filters can be
 * set for it; let go once sampling is armed.
 */
#ifndef STACKTALLY_SESSION_COMMAND_H
#define STACKTALLY_SESSION_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct command;

int command_new(char *const argv[], struct command **ret_command, struct error *err);
/* Kills a command that was never let go; one that runs is left alone. */
void command_free(struct command *command);

pid_t command_pid(const struct command *command);
int command_pidfd(const struct command *command); /* readable when it has ended */

/*
 * Lets it exec. When that fails the error's exit class is 127 (not found) or 126 (cannot be
 * run), as a shell's would be.
 */
int command_go(struct command *command, struct error *err);

/* Passes a signal on. */
void command_signal(const struct command *command, int signal);

/* Reaps it if it has ended (waits for it with `wait`); true then. */
bool command_ended(struct command *command, bool wait);

/* Its exit code as a shell gives it (128 + signal); meaningful once it has ended. */
int command_status(const struct command *command);

#endif
