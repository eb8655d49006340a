/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a report is empty, or lacks what was asked for, in one line with the next command
 * (docs/messages.md).
 */
#ifndef STACKTALLY_RUN_EMPTY_H
#define STACKTALLY_RUN_EMPTY_H

#include "run/run_report.h"

/* Prints why a report that was measured now is empty; nothing for a loaded one. */
void empty_tell(const struct run_report *report);

/* Prints which of inlined functions, lines and processes all stacks lack. */
void lacks_tell(const struct run_report *report);

#endif
