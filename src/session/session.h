/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session: the kernel side of a measurement, from open to close, and the loop that drains it.
 * It owns the BPF object, the launched command, signals and timers; it borrows plan, trigger,
 * images and tally. Nothing is printed here.
 */
#ifndef STACKTALLY_SESSION_SESSION_H
#define STACKTALLY_SESSION_SESSION_H

#include <stdarg.h>

#include "base/error.h"
#include "kernel/kernel_symbols.h"
#include "plan/plan.h"
#include "process/images.h"
#include "tally/tally.h"
#include "trigger/trigger.h"

struct kernel_names;
struct session;

/* Why session_run() came back. */
enum session_event {
	SESSION_INTERVAL,    /* an interval is over: report, clear the tally, run on; a look, too */
	SESSION_TICK,	     /* time for a look at the tally as it stands: leave it, run on */
	SESSION_ENDED,	     /* the duration is over, or the command has ended */
	SESSION_INTERRUPTED, /* SIGINT, SIGTERM or SIGHUP */
};

/* Where libbpf's words go: fits libbpf_set_print(). Call it before anything else. */
void session_set_log(int (*log)(int level, const char *format, va_list args));

/*
 * Checks the kernel and our capabilities, opens and loads the BPF object, sets the filters, holds
 * the command ready. Nothing fires yet. From here on SIGINT, SIGTERM and SIGHUP are the session's.
 * `kernel` is borrowed; its symbols are read when the first counts are, if nobody has by then.
 */
int session_open(const struct plan *plan, struct trigger *trigger, struct images *images,
		 struct kernel_names *kernel, struct session **ret_session, struct error *err);

/* What the user should know before it starts (a kernel that may hang), or NULL. */
const char *session_warning(const struct session *session);

/* Who asks the kernel for its names as long as the session is open. False: nobody can. */
bool session_kernel_lookup(const struct session *session, struct kernel_lookup *ret_lookup);

/* Attaches the trigger: events count from here on. */
int session_start(struct session *session, struct error *err);

/* Lets the command go; without one, sees what runs already, for a few ms at most. */
int session_launch(struct session *session, struct error *err);

/*
 * Waits and drains into the tally until something happens that the caller has to act on. When it
 * returns, all events up to that moment, and none after it, are in the tally, and what was lost
 * since the last return is added to its losses. After anything but SESSION_INTERVAL and
 * SESSION_TICK no event counts any more, and signals have their default effects again: the next
 * one ends the program at once.
 */
int session_run(struct session *session, struct tally *tally, enum session_event *ret_event,
		struct error *err);

/*
 * After a report of an interval: forgets addresses of the tally, and states of processes, that no
 * event to come refers to. The ids of addresses and images are others then, and what was named by
 * them is to be forgotten, too.
 */
int session_forget(struct session *session, struct tally *tally, struct error *err);

/*
 * Events so far, those that were lost too: for a display of activity, and no more exact than one
 * look at counters that run on. May be called by another thread while session_run() runs.
 */
uint64_t session_events(const struct session *session);

/* The account of the unwinding tables (session/unwinder.h); false when there are none. */
struct unwinder_stats;
bool session_unwinding(const struct session *session, struct unwinder_stats *ret_stats);

/* For how long events have counted, ns; final once the trigger is stopped. */
uint64_t session_duration(const struct session *session);

/* The launched command's exit code as a shell would give it, waiting for its end; -1: none. */
int session_command_status(struct session *session);

/*
 * Returns what kernel.perf_event_max_stack was and has to be set to by somebody else, because the
 * kernel refuses it now; or 0.
 */
uint32_t session_close(struct session *session);

#endif
