/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns the options that commands share into a plan and into the options of a report.
 */
#ifndef STACKTALLY_COMMANDS_SHARED_PLAN_H
#define STACKTALLY_COMMANDS_SHARED_PLAN_H

#include "commands/shared_options.h"
#include "plan/plan.h"
#include "report/writer.h"

/*
 * `stacks`: an option of the command's own asks for bcc's layout. Fills the plan and the report
 * options; the command then sets what is its own. 0 or a negative errno with `err` set. Free the
 * plan's outputs with shared_outputs_clear(); its strings point into argv.
 */
int shared_plan(const struct shared_options *options, bool stacks, char *const *command,
		struct plan *ret_plan, struct report_options *ret_report, struct error *err);

#endif
