/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --tui: makes flame graphs of a tally for src/show/tui/ to show, while the measurement runs, at a
 * cost of at most a tenth of the time; keeps messages and the launched command off the terminal.
 *
 * All functions that return int return 0 or a negative errno, with `err` set if they take one.
 */
#ifndef STACKTALLY_RUN_WATCH_H
#define STACKTALLY_RUN_WATCH_H

#include <stdbool.h>

#include "base/error.h"
#include "base/own.h"
#include "report/writer.h"
#include "tally/names.h"
#include "tally/tally.h"
#include "view/profile.h"

struct watch;

/* `report` is borrowed. */
int watch_new(const struct report_options *report, struct watch **ret_watch);
/* Also ends what watch_begin() and watch_hide_terminal() began. */
void watch_free(struct watch *watch);
DEFINE_OWN(struct watch, watch_free)

/*
 * Points those of stdin, stdout and stderr that are a terminal at /dev/null, and back. A command
 * that is made ready in between inherits /dev/null and cannot draw over the flame graph.
 */
int watch_hide_terminal(struct watch *watch, struct error *err);
void watch_show_terminal(struct watch *watch);

/* Takes over the terminal. From now on stderr is kept in memory and printed by watch_end(). */
int watch_begin(struct watch *watch, const struct profile_meta *meta, struct error *err);

/* True if an update would not exceed the share of the time. */
bool watch_is_due(const struct watch *watch);
/* Shows the tally; all its addresses must have names. */
int watch_update(struct watch *watch, const struct tally *tally, const struct names *names,
		 const struct profile_meta *meta, struct error *err);

/* Gives the terminal back; with `wait`, only when the user presses the key to quit. */
void watch_end(struct watch *watch, bool wait);

#endif
