/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session: one measurement with the kernel, from open to close. It owns the BPF object, the
 * launched command and the signals; it borrows the plan, trigger, images and tally. It prints
 * nothing.
 *
 * All functions belong to the thread that opened it, except session_events(). A session holds
 * images_lock() while it uses the images.
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

struct scripts;
struct kernel_names;
struct session;

/* Why session_run() returned. */
enum session_event {
	SESSION_INTERVAL, /* an interval is over: report, refresh, clear the tally, run on */
	SESSION_TICK,	  /* refresh the displays, leave the tally, run on */
	SESSION_SLICE,	  /* only note what was counted since the last return, run on */
	SESSION_RELOAD, /* SIGHUP with plan->reload: as at the end of an interval, and forget names
			 */
	SESSION_ENDED,	/* the duration is over, or the command has ended */
	SESSION_INTERRUPTED, /* SIGINT, SIGTERM or SIGHUP */
};

static inline bool session_goes_on(enum session_event event)
{
	return event != SESSION_ENDED && event != SESSION_INTERRUPTED;
}

/* Sets the function that prints libbpf's messages, as libbpf_set_print() does. Call it before
 * anything else. */
void session_set_log(int (*log)(int level, const char *format, va_list args));

/*
 * Checks the kernel and our capabilities, forks the command, opens and loads the BPF object. No
 * event fires yet. From here on SIGINT, SIGTERM and SIGHUP are blocked and read by the session.
 * `kernel` is borrowed and serves to tell tracepoints' frames. `scripts`, borrowed, gets the
 * functions of interpreted programs. 0, or a negative errno with nothing to close.
 */
int session_open(const struct plan *plan, struct trigger *trigger, struct images *images,
		 struct kernel_names *kernel, struct scripts *scripts, struct session **ret_session,
		 struct error *err);

/* What happened to the chosen processes or the cgroup, for a message at the end; false: nothing. */
bool session_describe_targets(const struct session *session, char *ret_text, size_t size);

/* A warning for the user (a kernel that may hang), or NULL. */
const char *session_warning(const struct session *session);

/* Why the functions of interpreted programs are missing, or NULL. Final when all was drained. */
const char *session_not_interpreted(const struct session *session);

/* What of a Java virtual machine does not fit, as interpreters_refused(). */
const char *session_refused(const struct session *session, pid_t *ret_tgid);

/* A way to look up kernel symbols, valid until session_close(). False: this kernel has none. */
bool session_kernel_lookup(const struct session *session, struct kernel_lookup *ret_lookup);

/* Attaches the trigger and arms the programs: events count from here on. */
int session_start(struct session *session, struct error *err);

/* Releases the command; without one, learns the running processes, for 10 ms at most. */
int session_launch(struct session *session, struct error *err);

/*
 * Drains events into the tally until the caller has to act. On return the tally has all events up
 * to that moment and none after it, and its losses are up to date but after SESSION_SLICE. After
 * SESSION_ENDED and SESSION_INTERRUPTED no event counts any more, and signals have their default
 * effects again: the next one ends the program at once.
 */
int session_run(struct session *session, struct tally *tally, enum session_event *ret_event,
		struct error *err);

/*
 * After the report of an interval: resets the tally and drops images that no pending stack refers
 * to. Ids of addresses and images change, so what was stored by them has to be dropped as well.
 */
int session_forget(struct session *session, struct tally *tally, struct error *err);

/*
 * Events so far, lost ones included: a snapshot of running counters, for displays of activity. May
 * be called by another thread while session_run() runs.
 */
uint64_t session_events(const struct session *session);

/*
 * Events of this process and its helpers so far: of the whole machine, they are left out. Time off
 * the CPU has none to count, but each time that one of them left it.
 */
uint64_t session_own_events(const struct session *session);

/* Events that did not meet the condition of --if so far. */
uint64_t session_unmet(const struct session *session);

/* The threads that --name left out so far. Valid until session_close(). */
struct comms;
const struct comms *session_others(const struct session *session);

/* Statistics of unwinding (drain/unwinder.h); false without unwinding tables. */
struct unwinder_stats;
bool session_unwinding(const struct session *session, struct unwinder_stats *ret_stats);

/* For how many ns events have counted; final once session_run() has ended the measurement. */
uint64_t session_duration(const struct session *session);

/* Up to which session_duration() the tally has the events, as of the last session_run(). */
uint64_t session_drained(const struct session *session);

/* When counting had to stop, and when it did, once session_run() has ended the measurement. */
void session_ended(const struct session *session, uint64_t *ret_due, uint64_t *ret_stopped);

/*
 * With plan->off_cpu: appends the chosen threads that there were when it began and still are, with
 * what is known of them now. 0 or -ENOMEM.
 */
struct thread_list;
int session_threads(const struct session *session, struct thread_list *list);

/* Whether there is a launched command that still runs. */
bool session_command_runs(struct session *session);
/* Waits for the launched command; its exit status as a shell shows it. -1: none was launched. */
int session_command_status(struct session *session);

/*
 * Returns 0, or the former value of kernel.perf_event_max_stack, if the kernel did not let it be
 * restored: the user has to.
 */
uint32_t session_close(struct session *session);

#endif
