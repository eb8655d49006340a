/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command that the measurement launches: forked early, so that filters can be set for it, and
 * held before its exec until sampling is armed. From one thread, its parent.
 */
#ifndef STACKTALLY_LAUNCH_COMMAND_H
#define STACKTALLY_LAUNCH_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct command;

/* Forks; `argv` is borrowed, `nice` is its priority. 0 or a negative errno. */
int command_new(char *const argv[], int nice, struct command **ret_command, struct error *err);
/* Kills a command that was never released; one that runs is left alone. */
void command_free(struct command *command);

pid_t command_pid(const struct command *command);
int command_pidfd(const struct command *command); /* for poll(): readable once it has ended */

/*
 * Has it exec, and waits until it has. On failure the error's exit class is 127 (not found) or 126
 * (cannot be run), as a shell's exit status would be.
 */
int command_go(struct command *command, struct error *err);

/* Sends it a signal, if it runs. */
void command_signal(const struct command *command, int signal);

/* Whether it has ended; then it is reaped. `wait`: waits for that. */
bool command_ended(struct command *command, bool wait);

/* Its exit status as a shell shows it (128 + signal); valid once it has ended. */
int command_status(const struct command *command);

#endif
