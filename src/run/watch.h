/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --tui: what a measurement has counted so far, shown in the terminal while it runs. Between the
 * tally and src/tui/: makes trees of what there is, at a cost that stays a small part of the time,
 * and keeps everybody else off the terminal meanwhile.
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

/* `report` is borrowed. 0 or -ENOMEM. */
int watch_new(const struct report_options *report, struct watch **ret_watch);
/* Gives the terminal back. */
void watch_free(struct watch *watch);
DEFINE_OWN(struct watch, watch_free)

/* A command that is made in between has nothing to do with the terminal: it would draw over us. */
int watch_shield(struct watch *watch, struct error *err);
void watch_unshield(struct watch *watch);

/* Takes over the terminal. What is written to stderr from now on appears at the end. */
int watch_begin(struct watch *watch, const struct profile_meta *meta, struct error *err);

/* Whether another look is worth its time. */
bool watch_is_due(const struct watch *watch);
/* Shows the tally as it stands; all its addresses have names. */
int watch_look(struct watch *watch, const struct tally *tally, const struct names *names,
	       const struct profile_meta *meta, struct error *err);

/* The last look was taken. With `wait`, returns when the user has seen enough. */
void watch_end(struct watch *watch, bool wait);

#endif
