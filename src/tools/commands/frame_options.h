/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns --focus and its relatives into the filter of a report.
 */
#ifndef STACKTALLY_COMMANDS_FRAME_OPTIONS_H
#define STACKTALLY_COMMANDS_FRAME_OPTIONS_H

#include "commands/shared_options.h"
#include "view/frame_filter.h"

/* *ret_filter, which borrows the options, is NULL if there are none. 0 or a negative errno with
 * `err` set. */
int frame_options_filter(const struct shared_options *options, struct frame_filter **ret_filter,
			 struct error *err);

#endif
