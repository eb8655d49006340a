/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A command: its option table, and how its options become a plan and a trigger. All that commands
 * do alike, from argv to the exit code, is command_run().
 */
#ifndef STACKTALLY_COMMANDS_COMMAND_H
#define STACKTALLY_COMMANDS_COMMAND_H

#include "cli/options.h"
#include "commands/shared_facts.h"
#include "commands/shared_options.h"
#include "plan/plan.h"
#include "run/run.h"

/* One call of a command. `request.options` points to this. */
struct invocation {
	void *options; /* the command's own struct */
	struct plan plan;
	struct shared_texts texts; /* that `request.meta` points to */
	struct run_request request;
};

struct command {
	const struct command_line *line;
	/* What parsing starts from: the command's own struct, with struct shared_options first. */
	const void *defaults;
	size_t options_size;
	/* Whether an option of the command's own is about how stacks are printed; NULL: none is. */
	bool (*asks_for_stacks)(const void *options);
	/*
	 * Completes plan and request, which have all that the shared options say. 0, or an exit
	 * code after a message.
	 */
	int (*complete)(struct invocation *invocation);
	/* Makes the trigger and runs. Prints errors; returns the exit code. */
	int (*start)(const struct invocation *invocation);
};

extern const struct command profile_command, stackcount_command;

/*
 * Parses argv, then measures, reports from a recording, or answers --help and the like. `program`
 * is what the command was called by, for usage and messages. Prints errors; returns the exit code.
 */
int command_run(const struct command *command, const char *program, int argc, char **argv);

/* The exit code after an answer on stdout: whether all of it was written. */
int command_answered(void);

#endif
