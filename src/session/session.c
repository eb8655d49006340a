// SPDX-License-Identifier: GPL-2.0-or-later
/* The loop that waits, drains and ends; what there is to know of it meanwhile. */
#include "session/session.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>

#include "base/own.h"
#include "kernel/orc_tables.h"
#include "session/session_internal.h"

/* How often the ring is looked at without being woken. */
#define DRAIN_NS (100 * NS_PER_MS)

/*
 * How long the last report may wait for the tables of walks that wait; and one by the interval,
 * while more is sampled.
 */
#define REPORT_PATIENCE_NS   (500 * NS_PER_MS)
#define INTERVAL_PATIENCE_NS (100 * NS_PER_MS)

static uint64_t end_of(const struct session *session)
{
	if (session->plan->duration <= 0)
		return UINT64_MAX;
	return session->started + (uint64_t)(session->plan->duration * (double)NS_PER_SECOND);
}

static void wait_for_something(struct session *session)
{
	uint64_t now = now_ns(), until = now + DRAIN_NS, end = end_of(session);
	struct timespec timeout = { 0 };
	struct pollfd fds[] = {
		{ .fd = session->signals.fd, .events = POLLIN },
		{ .fd = kernel_side_ring(&session->side), .events = POLLIN },
		{ .fd = session->command ? command_pidfd(session->command) : -1, .events = POLLIN },
		{ .fd = session->sideband ? sideband_fd(session->sideband) : -1, .events = POLLIN },
		{ .fd = unwinder_fd(session->unwinder), .events = POLLIN },
	};

	if (end < until)
		until = end;
	if (session->plan->interval > 0 && session->next_interval < until)
		until = session->next_interval;
	if (session->plan->tick > 0 && session->next_look < until)
		until = session->next_look;
	if (until > now) {
		timeout.tv_sec = (time_t)((until - now) / NS_PER_SECOND);
		timeout.tv_nsec = (long)((until - now) % NS_PER_SECOND);
	}
	ppoll(fds, sizeof(fds) / sizeof(fds[0]), &timeout, NULL);
}

/*
 * A first signal ends the measurement; with a command it goes on to the command (from a terminal
 * it has it already), whose end ends the measurement, and a second signal does so at once.
 */
static bool interrupted(struct session *session)
{
	struct signalfd_siginfo info;
	bool stop = false;

	while (signals_take(&session->signals, &info)) {
		if (!session->command || session->passed_on)
			stop = true;
		else if (info.ssi_code != SI_KERNEL)
			command_signal(session->command, (int)info.ssi_signo);
		session->passed_on = true;
	}
	return stop;
}

/* Whether it is time for the next look; those that were missed are not made up for. */
static bool look_is_due(struct session *session, uint64_t now)
{
	uint64_t tick = (uint64_t)(session->plan->tick * (double)NS_PER_SECOND);

	if (!tick || now < session->next_look)
		return false;
	session->next_look += ((now - session->next_look) / tick + 1) * tick;
	return true;
}

static bool is_over(struct session *session, enum session_event *ret_event)
{
	uint64_t now = now_ns();

	if (interrupted(session)) {
		*ret_event = SESSION_INTERRUPTED;
		return true;
	}
	if (now >= end_of(session) ||
	    (session->command && command_ended(session->command, false))) {
		*ret_event = SESSION_ENDED;
		return true;
	}
	if (session->plan->interval > 0 && now >= session->next_interval) {
		session->next_interval +=
			(uint64_t)(session->plan->interval * (double)NS_PER_SECOND);
		look_is_due(session, now); /* an interval's end is one, too */
		*ret_event = SESSION_INTERVAL;
		return true;
	}
	if (look_is_due(session, now)) {
		*ret_event = SESSION_TICK;
		return true;
	}
	return false;
}

static int finish(struct session *session, struct error *err)
{
	const struct trigger_ops *ops = session->trigger->ops;
	int r = 0;

	/* What takes long to detach is only disarmed here; session_close() waits for it. */
	kernel_side_arm(&session->side, false);
	session->stopped = now_ns();
	if (ops->stop_begin)
		ops->stop_begin(session->trigger);
	if (ops->stop_waits)
		ops->stop(session->trigger);
	else
		r = epochs_wait(session->side.epochs, err);
	if (r == 0)
		r = session_drain(session, epochs_now(session->side.epochs), REPORT_PATIENCE_NS,
				  err);
	if (r == 0)
		r = accounting_report(&session->accounting, &session->side, session->trigger,
				      tally_losses(session->tally), true, err);
	signals_restore(&session->signals);
	return r;
}

/* When events count already: some kernels take 50 ms to answer. Until then they walk themselves. */
static void tell_kernel_tables(struct session *session)
{
	volatile struct wire_orc *orc = kernel_side_orc(&session->side);
	const struct trigger *trigger = session->trigger;
	struct kernel_lookup lookup;

	if (session->told)
		return;
	session->told = true;
	if (!session->plan->kernel || !trigger->ops->walks_kernel ||
	    trigger->frames == TRIGGER_FRAMES_RAW_TRACEPOINT)
		return;
	kernel_side_tell_modules(&session->side);
	if (session_kernel_lookup(session, &lookup)) {
		orc_tables_look_up(&lookup, orc);
	} else {
		own(own_fd) int kallsyms = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);

		orc_tables_read(kallsyms, orc);
	}
}

int session_run(struct session *session, struct tally *tally, enum session_event *ret_event,
		struct error *err)
{
	enum session_event event;
	int r = 0;

	session->tally = tally;
	tell_kernel_tables(session);
	while (!is_over(session, &event)) {
		wait_for_something(session);
		r = session_consume(session, err);
		if (r == 0 && session_epoch_is_full(session))
			r = session_switch_and_drain(session, 0, err);
		if (r < 0)
			return r;
		if (session->trigger->ops->tick && now_ns() >= session->next_tick) {
			session->trigger->ops->tick(session->trigger);
			session->next_tick = now_ns() + TICK_NS;
		}
	}
	if (event == SESSION_INTERVAL || event == SESSION_TICK) {
		r = session_switch_and_drain(session,
					     event == SESSION_INTERVAL ? INTERVAL_PATIENCE_NS : 0,
					     err);
		if (r == 0)
			r = accounting_report(&session->accounting, &session->side,
					      session->trigger, tally_losses(session->tally), false,
					      err);
	} else {
		r = finish(session, err);
	}
	if (r == 0)
		*ret_event = event;
	return r;
}

uint64_t session_events(const struct session *session)
{
	struct wire_counters now = { 0 };

	return kernel_side_counters(&session->side, &now) < 0 ? 0 : now.events;
}

bool session_unwinding(const struct session *session, struct unwinder_stats *ret_stats)
{
	if (!session->unwinder)
		return false;
	unwinder_stats(session->unwinder, ret_stats);
	return true;
}

uint64_t session_duration(const struct session *session)
{
	return (session->stopped ? session->stopped : now_ns()) - session->started;
}

int session_command_status(struct session *session)
{
	if (!session->command)
		return -1;
	command_ended(session->command, true);
	return command_status(session->command);
}
