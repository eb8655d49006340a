/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the options that commands share say of outputs: which there are, each with its format, and
 * what a terminal shows meanwhile.
 */
#ifndef STACKTALLY_COMMANDS_SHARED_OUTPUTS_H
#define STACKTALLY_COMMANDS_SHARED_OUTPUTS_H

#include "commands/shared_options.h"
#include "plan/plan.h"

/*
 * Sets the plan's outputs and its displays, and how many rows a table has, 0 for its own number.
 * `stacks` as in shared_plan(). 0, or a negative errno with `err` set; then there are no outputs.
 * Strings point into argv.
 */
int shared_outputs_plan(const struct shared_options *options, bool stacks, struct plan *plan,
			uint32_t *ret_rows, struct error *err);
void shared_outputs_clear(struct plan *plan);

/* Whether a report on stdout is asked for. */
bool shared_outputs_asks(const struct shared_options *options);

/*
 * Notes on stderr about options that change nothing. `columns`: an option of the command's own asks
 * for columns of addresses.
 */
void shared_outputs_notes(const struct shared_options *options, const struct plan *plan,
			  bool columns);

#endif
