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
 * plan's outputs with shared_plan_clear(); its strings point into argv.
 */
int shared_plan(const struct shared_options *options, bool stacks, char *const *command,
		struct plan *ret_plan, struct report_options *ret_report, struct error *err);
void shared_plan_clear(struct plan *plan);

/* argv quoted for a shell, allocated; NULL when out of memory. */
char *shared_command_line(int argc, char *const *argv);

/*
 * Notes on stderr about options that change nothing. `columns`: an option of the command's own asks
 * for columns of addresses.
 */
void shared_plan_notes(const struct shared_options *options, const struct plan *plan, bool columns);

/* The facts of a measurement that both commands know alike. The texts are borrowed. */
struct shared_texts {
	char scope[256], filter[700];
};
void shared_plan_meta(const struct plan *plan, struct shared_texts *texts,
		      struct profile_meta *meta);

/* The CPUs of a filter, as the kernel writes lists; "": all. */
void shared_plan_cpus(const struct plan_filter *filter, char *ret_text, size_t size);

/* For titles, the scope of a measurement: "all threads", "PID 7", "TID [7, 8]", "'make'". */
void shared_plan_scope(const struct plan *plan, char *ret_scope, size_t size);

#endif
