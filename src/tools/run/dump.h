/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --dump: each thread once, with its stack. Made of a short measurement of the time of all chosen
 * threads: of the stacks that a thread had, the one with most of that time stands for it.
 */
#ifndef STACKTALLY_RUN_DUMP_H
#define STACKTALLY_RUN_DUMP_H

#include "base/error.h"
#include "base/own.h"
#include "run/run_report.h"
#include "session/session.h"
#include "tally/tally.h"
#include "tally/thread_list.h"

struct dump {
	struct thread_list list;
	struct tally *tally; /* an entry for each thread, with a count of 1 */
};

/*
 * As soon as the measurement has ended: what is known of its threads then. 0; -EAGAIN: a thread was
 * to be walked asleep, but ran, so it is to be measured again, with plan->dump_runs; -ENOMEM.
 */
int dump_look(struct dump *dump, const struct session *session);
/* Has the report show the dump in place of the tally, whose addresses keep their ids. 0 or a
 * negative errno. */
int dump_make(struct dump *dump, struct run_report *report);
void dump_clear(struct dump *dump);

#endif
