/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What both commands do before they differ: from argv to options, and from the options both have
 * to a plan and the look of a report.
 */
#ifndef STACKTALLY_COMMANDS_SHARED_PLAN_H
#define STACKTALLY_COMMANDS_SHARED_PLAN_H

#include "commands/shared_options.h"
#include "plan/plan.h"
#include "report/writer.h"

/*
 * Parses argv into `options` (of the command's own type) and sets line->program to what the user
 * called it. Returns -1 to go on; else the exit code, everything having been said: help, version,
 * usage errors.
 */
int shared_parse(struct command_line *line, int argc, char **argv, void *options,
		 char ***ret_command);

/*
 * Fills both from the options; what a command does differently it sets afterwards. The plan's
 * outputs are allocated: free them with shared_plan_clear().
 */
int shared_plan(const struct shared_options *options, char *const *command, struct plan *ret_plan,
		struct report_options *ret_report, struct error *err);
void shared_plan_clear(struct plan *plan);

/* argv as one would type it into a shell, allocated; NULL when out of memory. */
char *shared_command_line(int argc, char *const *argv);

/* "all threads", "PID 7", "TID [7, 8]": who is measured, for titles. */
void shared_plan_who(const struct plan *plan, char *who, size_t size);

#endif
