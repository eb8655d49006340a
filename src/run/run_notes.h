/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the user is told on stderr of a measurement, beside its report.
 */
#ifndef STACKTALLY_RUN_RUN_NOTES_H
#define STACKTALLY_RUN_RUN_NOTES_H

#include "run/run_report.h"
#include "session/session.h"

/* What was lost, where stacks ended, and the closing line. */
int run_notes_of_report(const struct run_report *report, struct error *err);

/* The same for reports; nothing when there were no tables. */
void run_notes_of_tables(const struct session *session, struct profile_unwinding *ret_unwinding);

/* What unwinding took. */
void run_notes_of_unwinding(const struct session *session);

/* How much was learned of processes, and what was missed. */
void run_notes_of_images(const struct images *images);

#endif
