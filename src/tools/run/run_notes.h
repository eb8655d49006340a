/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages on stderr about a measurement: warnings, the closing line, and with -v details.
 */
#ifndef STACKTALLY_RUN_RUN_NOTES_H
#define STACKTALLY_RUN_RUN_NOTES_H

#include "run/run_report.h"
#include "session/session.h"

/* Warnings, losses, the ends of user stacks, and the closing line. 0 or a negative errno. */
int run_notes_of_report(const struct run_report *report, struct error *err);

/* Fills in what reports tell of unwinding; leaves it as it is if there were no tables. */
void run_notes_of_tables(const struct session *session, struct profile_unwinding *ret_unwinding);

/* A warning if the functions of interpreted programs are missing, and why. */
void run_notes_of_interpreters(const struct session *session);

/* With -v: what unwinding took. */
void run_notes_of_unwinding(const struct session *session);

/* A warning on lost mapping events; with -v, what is known of processes. */
void run_notes_of_images(const struct images *images);

#endif
