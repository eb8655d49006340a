/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session: the kernel side of a measurement, from open to close, and the loop that drains it.
 * It owns the BPF object, the launched command, signals and timers; it borrows plan, trigger, tally and worlds.
 * Nothing is printed here.
 */
#ifndef STACKTALLY_SESSION_SESSION_H
#define STACKTALLY_SESSION_SESSION_H

#include "base/error.h"
#include "plan.h"
#include "process/worlds.h"
#include "tally/tally.h"
#include "trigger/trigger.h"

struct session;

/* Why session_run() came back. */
enum session_event {
	SESSION_INTERVAL,    /* an interval is over: report, clear the tally, run on */
	SESSION_ENDED,	     /* the duration is over, or the command has ended */
	SESSION_INTERRUPTED, /* SIGINT, SIGTERM or SIGHUP */
};

/*
 * Checks the kernel, opens and loads the BPF object, sets the filters. Nothing fires yet.
 */
int session_open(const struct plan *plan, struct trigger *trigger, struct worlds *worlds,
		 struct session **ret_session, struct error *err);

/* Attaches the trigger; with a command, starts it. Events count from here on. */
int session_start(struct session *session, struct error *err);

/*
 * Waits and drains into the tally until something happens that the caller has to act on. When it
 * returns, all events up to that moment, and none after it, are in the tally. After anything but
 * SESSION_INTERVAL the trigger is stopped.
 */
int session_run(struct session *session, struct tally *tally, enum session_event *ret_event,
		struct error *err);

/* The launched command's exit code as a shell would give it, or -1 when there was none. */
int session_command_status(const struct session *session);

/* True once a second signal asked to stop at once (during the report). */
bool session_abandoned(const struct session *session);

void session_close(struct session *session);

#endif
