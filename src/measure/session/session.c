// SPDX-License-Identifier: GPL-2.0-or-later
/* The loop that waits, drains and ends the measurement; what others may ask of it meanwhile. */
#include "session/session.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>

#include "base/own.h"
#include "kernel/orc_tables.h"
#include "session/session_internal.h"
#include "session/targets.h"

/* How often the ring buffer is drained even without a wakeup. */
#define DRAIN_NS (100 * NS_PER_MS)
/* The longest slice while walks wait for tables. */
#define SLICE_MAX_NS NS_PER_SECOND

/* How long the last report, and one of an interval, may wait for the tables of deferred walks. */
#define REPORT_PATIENCE_NS   (500 * NS_PER_MS)
#define INTERVAL_PATIENCE_NS (100 * NS_PER_MS)

uint64_t session_end(const struct session *session)
{
	if (session->plan->duration <= 0)
		return UINT64_MAX;
	return session->started + (uint64_t)(session->plan->duration * (double)NS_PER_SECOND);
}

static uint64_t interval_ns(const struct session *session)
{
	return (uint64_t)(session->plan->interval * (double)NS_PER_SECOND);
}

static void wait_for_something(struct session *session)
{
	uint64_t now = monotonic_ns(), until = now + DRAIN_NS, end = session_end(session);
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
	if (session->plan->tick > 0 && session->next_refresh < until)
		until = session->next_refresh;
	if (session->plan->slice > 0 && session->next_slice < until)
		until = session->next_slice;
	if (until > now) {
		timeout.tv_sec = (time_t)((until - now) / NS_PER_SECOND);
		timeout.tv_nsec = (long)((until - now) % NS_PER_SECOND);
	}
	ppoll(fds, sizeof(fds) / sizeof(fds[0]), &timeout, NULL);
}

/*
 * Whether a signal ends the measurement. With a launched command the first is passed on to it (one
 * from the terminal it has got itself), and only the second ends the measurement at once.
 */
static bool interrupted(struct session *session)
{
	struct signalfd_siginfo info;
	bool stop = false;

	while (signals_take(&session->signals, &info)) {
		if (info.ssi_signo == SIGHUP && session->plan->reload) {
			session->reload = true;
			continue;
		}
		if (!session->command || session->passed_on)
			stop = true;
		else if (info.ssi_code != SI_KERNEL)
			command_signal(session->command, (int)info.ssi_signo);
		session->passed_on = true;
	}
	return stop;
}

/* Whether a refresh is due; refreshes that were missed are skipped. */
static bool refresh_is_due(struct session *session, uint64_t now)
{
	uint64_t tick = (uint64_t)(session->plan->tick * (double)NS_PER_SECOND);

	if (!tick || now < session->next_refresh)
		return false;
	session->next_refresh += ((now - session->next_refresh) / tick + 1) * tick;
	return true;
}

/*
 * Whether a slice is over. Its end ends deferred walks: while they wait for tables, slices are
 * longer, as long as ticks at most.
 */
static bool slice_is_over(struct session *session, uint64_t now)
{
	uint64_t slice = (uint64_t)(session->plan->slice * (double)NS_PER_SECOND);

	if (!slice || now < session->next_slice)
		return false;
	session->next_slice += ((now - session->next_slice) / slice + 1) * slice;
	return !unwinder_defers(session->unwinder) || now - session->switched >= SLICE_MAX_NS;
}

/* Looks after what was chosen; true if that has ended. */
static bool targets_are_over(struct session *session, uint64_t now)
{
	if (now < session->next_look)
		return false;
	session->next_look = now + DRAIN_NS;
	targets_follow_cgroup(session->targets);
	return targets_ended(session->targets);
}

static bool is_over(struct session *session, enum session_event *ret_event)
{
	uint64_t now = monotonic_ns();

	if (interrupted(session)) {
		*ret_event = SESSION_INTERRUPTED;
		return true;
	}
	if (now >= session_end(session) || targets_are_over(session, now) ||
	    (session->command && command_ended(session->command, false))) {
		*ret_event = SESSION_ENDED;
		return true;
	}
	if (session->reload) {
		session->reload = false;
		session->next_interval = now + interval_ns(session);
		*ret_event = SESSION_RELOAD;
		return true;
	}
	if (session->plan->interval > 0 && now >= session->next_interval) {
		session->next_interval += interval_ns(session);
		refresh_is_due(session, now); /* the report is one */
		*ret_event = SESSION_INTERVAL;
		return true;
	}
	if (refresh_is_due(session, now)) {
		*ret_event = SESSION_TICK;
		return true;
	}
	if (slice_is_over(session, now)) {
		*ret_event = SESSION_SLICE;
		return true;
	}
	return false;
}

/* Adds the losses since the last time to the tally. */
static int account(struct session *session, bool final, struct error *err)
{
	struct tally_losses *losses = tally_losses(session->tally);
	int r;

	if (!final)
		due_look(session->accounting.due, session->trigger);
	r = accounting_report(&session->accounting, &session->side, session->trigger, losses, final,
			      err);

	return r < 0 ? r : gauge_losses(session->gauge, losses, err);
}

static int finish(struct session *session, struct error *err)
{
	const struct trigger_ops *ops = session->trigger->ops;
	int r = 0;

	/* Before the programs are disarmed: no firing that is due then is missed. */
	due_look(session->accounting.due, session->trigger);
	/* Probes that take long to detach are only disarmed here; session_close() waits for them.
	 */
	kernel_side_arm(&session->side, false);
	session->stopped = monotonic_ns();
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
		r = account(session, true, err);
	signals_restore(&session->signals);
	return r;
}

/*
 * Tells the BPF programs where the kernel's ORC tables are. Events count already, because some
 * kernels take 50 ms to answer; until then bpf_get_stack() walks.
 */
static void tell_orc_tables(struct session *session)
{
	volatile struct wire_orc *orc = kernel_side_orc(&session->side);
	struct kernel_lookup lookup;

	if (session->told_orc)
		return;
	session->told_orc = true;
	if (!session->plan->kernel || !session->trigger->walks_kernel)
		return;
	kernel_side_write_modules(&session->side);
	if (session_kernel_lookup(session, &lookup)) {
		orc_tables_look_up(&lookup, orc);
	} else {
		own(own_fd) int kallsyms = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);

		orc_tables_read(kallsyms, orc);
	}
}

/* Walks the stacks of what the gauge has found. Events count already. */
static int walk_found(struct session *session, struct error *err)
{
	int r = !session->walked;

	session->walked = true;
	while (r > 0) {
		images_lock(session->images);
		r = gauge_walk(session->gauge, session->unwinder, err);
		images_unlock(session->images);
		if (r > 0 && session_switch_and_drain(session, 0, err) < 0)
			r = -1;
	}
	return r;
}

/* Waits until the caller has to act; the epoch goes on. */
static int run_until_event(struct session *session, enum session_event *ret_event,
			   struct error *err)
{
	while (!is_over(session, ret_event)) {
		int r;

		wait_for_something(session);
		r = drain_consume(session->drain, session_end(session), err);
		session_walk_interpreters(session);
		if (r == 0)
			r = session_watch_jit(session, err);
		if (r == 0 && drain_is_full(session->drain))
			r = session_switch_and_drain(session, 0, err);
		if (r < 0)
			return r;
		if (session->trigger->ops->tick && monotonic_ns() >= session->next_tick) {
			session->trigger->ops->tick(session->trigger);
			session->next_tick = monotonic_ns() + TICK_NS;
		}
	}
	return 0;
}

/* No report is made: what is not complete yet need not be. */
static bool is_for_displays(enum session_event event)
{
	return event == SESSION_TICK || event == SESSION_SLICE;
}

int session_run(struct session *session, struct tally *tally, enum session_event *ret_event,
		struct error *err)
{
	enum session_event event;
	int r;

	session->tally = tally;
	drain_into(session->drain, tally);
	tell_orc_tables(session);
	r = walk_found(session, err);
	if (r < 0)
		return r;
	r = run_until_event(session, &event, err);
	if (r < 0)
		return r;
	if (session_goes_on(event)) {
		r = session_switch_and_drain(session,
					     is_for_displays(event) ? 0 : INTERVAL_PATIENCE_NS,
					     err);
		if (r == 0 && event != SESSION_SLICE)
			r = account(session, false, err);
	} else {
		r = finish(session, err);
	}
	if (r < 0)
		return r;
	*ret_event = event;
	return 0;
}

uint64_t session_events(const struct session *session)
{
	struct wire_counters now = { 0 };

	return kernel_side_counters(&session->side, &now, NULL) < 0 ? 0 : now.events;
}

const struct comms *session_others(const struct session *session)
{
	return drain_others(session->drain);
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
	return (session->stopped ? session->stopped : monotonic_ns()) - session->started;
}

uint64_t session_drained(const struct session *session)
{
	return (session->stopped ? session->stopped : session->switched) - session->started;
}

void session_ended(const struct session *session, uint64_t *ret_due, uint64_t *ret_stopped)
{
	uint64_t end = session_end(session);

	*ret_stopped = session->stopped;
	*ret_due = end < session->stopped ? end : session->stopped;
}

int session_command_status(struct session *session)
{
	if (!session->command)
		return -1;
	command_ended(session->command, true);
	return command_status(session->command);
}
