/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What to type next, on stderr, after a table that was printed because nothing else was asked for.
 */
#ifndef STACKTALLY_RUN_NEXT_STEPS_H
#define STACKTALLY_RUN_NEXT_STEPS_H

#include "run/run_report.h"

/* 0 or -ENOMEM. */
int next_steps_tell(const struct run_report *report);

#endif
