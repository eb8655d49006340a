/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a report is empty, or lacks what was asked for, in one line with the next command
 * (docs/messages.md).
 */
#ifndef STACKTALLY_RUN_EMPTY_H
#define STACKTALLY_RUN_EMPTY_H

#include "run/run_report.h"

/* Of an empty report that was measured now: a line. */
void empty_tell(const struct run_report *report);

/* Inlined functions, lines or processes that none of the stacks has. */
void lacks_tell(const struct run_report *report);

#endif
