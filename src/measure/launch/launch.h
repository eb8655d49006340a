/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ends a measurement from outside: the command that it launches, if any, and the signals
 * SIGINT, SIGTERM and SIGHUP. From one thread, the command's parent.
 */
#ifndef STACKTALLY_LAUNCH_LAUNCH_H
#define STACKTALLY_LAUNCH_LAUNCH_H

#include <stdbool.h>

#include "base/error.h"
#include "launch/command.h"
#include "launch/signals.h"

struct launch {
	struct command *command; /* NULL: none is launched */
	struct signals signals;
	bool reloads;	/* SIGHUP does not end the measurement */
	bool reload;	/* it came */
	bool passed_on; /* a signal went to the command: the next one ends the measurement */
};

#define LAUNCH_NONE ((struct launch){ .signals = SIGNALS_NONE })

/* Blocks the signals, which are taken from a descriptor from now on. 0 or a negative errno. */
int launch_begin(bool reloads, struct launch *launch, struct error *err);

/* Forks the command; `argv` NULL: there is none. 0 or a negative errno. */
int launch_fork(struct launch *launch, char *const argv[], int nice, struct error *err);

/* For poll(): signals, and the end of the command (-1: none). */
int launch_signals_fd(const struct launch *launch);
int launch_command_fd(const struct launch *launch);

/*
 * Takes the signals that came; whether they end the measurement. With a launched command the first
 * is passed on to it (one from the terminal it has got itself), and only the second does.
 */
bool launch_is_interrupted(struct launch *launch);

/* Whether a reload was asked for since the last call. */
bool launch_take_reload(struct launch *launch);

/* Whether the command has ended; false without one. */
bool launch_has_ended(struct launch *launch);

/* Waits for the command; its exit status as a shell shows it. -1: none was launched. */
int launch_status(struct launch *launch);

/* Signals have their former effects again. */
void launch_end(struct launch *launch);
/* The same, and frees the command. */
void launch_close(struct launch *launch);

#endif
