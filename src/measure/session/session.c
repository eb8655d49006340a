// SPDX-License-Identifier: GPL-2.0-or-later
/* The loop that waits, drains and ends the measurement; what others may ask of it meanwhile. */
#include "session/session.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>

#include "base/clock.h"
#include "base/own.h"
#include "kernel/orc_tables.h"
#include "loader/exe_filter.h"
#include "session/session_internal.h"
#include "session/targets.h"

/* How often the ring buffer is drained even without a wakeup. */
#define DRAIN_NS (100 * NS_PER_MS)
/*
 * So long after records of mappings were taken, others wake nobody: where programs are started all
 * the time, many are taken at once.
 */
#define RECORDS_NS (5 * NS_PER_MS)
/* The longest slice while walks wait for tables. */
#define SLICE_MAX_NS NS_PER_SECOND

/* How often a dump looks whether a thread still waits for its first turn. */
#define LOOK_AGAIN_NS (5 * NS_PER_MS)

/* How long the last report, and one of an interval, may wait for the tables of deferred walks. */
#define REPORT_PATIENCE_NS   (500 * NS_PER_MS)
#define REPORT_LONGEST_NS    (2 * NS_PER_SECOND) /* if there is no CPU for it */
#define INTERVAL_PATIENCE_NS (100 * NS_PER_MS)	 /* nothing is drained meanwhile */

static bool has_records(const struct session *session)
{
	struct pollfd ready = { .fd = sideband_fd(session->sideband), .events = POLLIN };

	return poll(&ready, 1, 0) > 0;
}

static void wait_for_something(struct session *session)
{
	uint64_t now = monotonic_ns(), until = schedule_next(&session->schedule, now + DRAIN_NS);
	bool takes_records = session->sideband && now >= session->next_records;
	struct timespec timeout = { 0 };
	struct pollfd fds[] = {
		{ .fd = launch_signals_fd(&session->launch), .events = POLLIN },
		{ .fd = kernel_side_ring(&session->side), .events = POLLIN },
		{ .fd = launch_command_fd(&session->launch), .events = POLLIN },
		{ .fd = takes_records ? sideband_fd(session->sideband) : -1, .events = POLLIN },
		{ .fd = unwinder_fd(session->unwinder), .events = POLLIN },
	};

	if (session->sideband && !takes_records && until > session->next_records)
		until = session->next_records;
	if (until > now) {
		timeout.tv_sec = (time_t)((until - now) / NS_PER_SECOND);
		timeout.tv_nsec = (long)((until - now) % NS_PER_SECOND);
	}
	ppoll(fds, sizeof(fds) / sizeof(fds[0]), &timeout, NULL);
	if (takes_records ? fds[3].revents : session->sideband && has_records(session))
		session->next_records = monotonic_ns() + RECORDS_NS;
}

/* Looks which of the chosen cgroups are there, if any was made or removed. */
static void look_at_groups(struct session *session)
{
	uint64_t changes, lost;

	kernel_side_cgroup_changes(&session->side, &changes, &lost);
	groups_follow(session->groups, changes);
}

/* Looks after what was chosen; true if that has ended. */
static bool targets_are_over(struct session *session, uint64_t now)
{
	if (!schedule_look_is_due(&session->schedule, now))
		return false;
	look_at_groups(session);
	return targets_ended(session->targets);
}

/*
 * The end of a slice ends deferred walks: while they wait for tables, slices are longer, as long as
 * ticks at most.
 */
static bool has_long_slices(const struct session *session, uint64_t now)
{
	return unwinder_defers(session->unwinder) && now - session->switched < SLICE_MAX_NS;
}

/* A dump has no stack of a thread that waits for a CPU all the time: it looks longer, then. */
static void look_longer(struct session *session, uint64_t now)
{
	uint64_t limit =
		session->schedule.started + (uint64_t)(PLAN_DUMP_LONGEST * (double)NS_PER_SECOND);

	if (session->plan->dump && now < limit && gauge_starves(session->gauge))
		schedule_put_off(&session->schedule, now, LOOK_AGAIN_NS, limit);
}

static bool is_over(struct session *session, enum session_event *ret_event)
{
	uint64_t now = monotonic_ns();

	if (launch_is_interrupted(&session->launch)) {
		*ret_event = SESSION_INTERRUPTED;
		return true;
	}
	if (now >= schedule_end(&session->schedule))
		look_longer(session, now);
	/* Of a dump of threads that sleep all is known once their stacks are walked. */
	if (session->trigger->scope.still || now >= schedule_end(&session->schedule) ||
	    targets_are_over(session, now) || launch_has_ended(&session->launch)) {
		*ret_event = SESSION_ENDED;
		return true;
	}
	return schedule_is_due(&session->schedule, now, launch_take_reload(&session->launch),
			       has_long_slices(session, now), ret_event);
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
	look_at_groups(session);
	if (ops->stop_begin)
		ops->stop_begin(session->trigger);
	if (ops->stop_waits)
		ops->stop(session->trigger);
	else
		r = epochs_wait(session->side.epochs, err);
	if (r == 0)
		r = session_drain(session, epochs_now(session->side.epochs),
				  (struct unwind_limit){ REPORT_PATIENCE_NS, REPORT_LONGEST_NS },
				  err);
	if (r == 0)
		r = account(session, true, err);
	launch_end(&session->launch);
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

	if (!session->plan->kernel || !session->trigger->walks_kernel)
		return;
	kernel_side_write_modules(&session->side);
	if (session_kernel_lookup(session, &lookup)) {
		orc_tables_look_up(&lookup, orc);
	} else if (!session->still) {
		own(own_fd) int kallsyms = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);

		orc_tables_read(kallsyms, orc);
	}
}

/* A dump is nothing without stacks, so walks may take longer than it. */
#define DUMP_WALK_NS (10 * NS_PER_SECOND)

/* Walks the stacks of what the gauge has found. Events count already. */
static int walk_found(struct session *session, struct error *err)
{
	uint64_t until = session->plan->dump ? monotonic_ns() + DUMP_WALK_NS
					     : schedule_end(&session->schedule);
	int r = 1;

	while (r > 0) {
		images_lock(session->images);
		r = gauge_walk(session->gauge, session->unwinder, until, err);
		images_unlock(session->images);
		if (r > 0 && session_switch_and_drain(session, (struct unwind_limit){ 0 }, err) < 0)
			r = -1;
	}
	return r;
}

/* What takes long, or needs a tally: once events count. */
static int begin(struct session *session, struct error *err)
{
	session->ran = true;
	tell_orc_tables(session);
	return walk_found(session, err);
}

static void tick(struct session *session)
{
	if (session->trigger->ops->tick)
		session->trigger->ops->tick(session->trigger);
	if (session->plan->filter.exe)
		exe_filter_tick(session->plan->filter.exe, session->side.skeleton);
}

/* Waits until the caller has to act; the epoch goes on. */
static int run_until_event(struct session *session, enum session_event *ret_event,
			   struct error *err)
{
	while (!is_over(session, ret_event)) {
		int r;

		wait_for_something(session);
		r = drain_consume(session->drain, schedule_end(&session->schedule), err);
		session_walk_interpreters(session);
		if (r == 0)
			r = session_watch_jit(session, err);
		if (r == 0 && drain_is_full(session->drain))
			r = session_switch_and_drain(session, (struct unwind_limit){ 0 }, err);
		if (r < 0)
			return r;
		if (schedule_tick_is_due(&session->schedule, monotonic_ns()))
			tick(session);
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
	r = session->ran ? 0 : begin(session, err);
	if (r < 0)
		return r;
	r = run_until_event(session, &event, err);
	if (r < 0)
		return r;
	session->reports = !is_for_displays(event);
	if (session_goes_on(event)) {
		uint64_t patience = is_for_displays(event) ? 0 : INTERVAL_PATIENCE_NS;

		r = session_switch_and_drain(session, (struct unwind_limit){ patience, patience },
					     err);
		session->reports = false;
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

uint64_t session_unmet(const struct session *session)
{
	struct wire_counters now = { 0 };

	return kernel_side_counters(&session->side, &now, NULL) < 0 ? 0 : now.unmet;
}

uint64_t session_own_events(const struct session *session)
{
	return kernel_side_own_events(&session->side);
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
	return (session->stopped ? session->stopped : monotonic_ns()) - session->schedule.started;
}

uint64_t session_drained(const struct session *session)
{
	return (session->stopped ? session->stopped : session->switched) -
	       session->schedule.started;
}

int session_threads(const struct session *session, struct thread_list *list)
{
	return gauge_threads(session->gauge, list);
}

void session_ended(const struct session *session, uint64_t *ret_due, uint64_t *ret_stopped)
{
	uint64_t end = schedule_end(&session->schedule);

	*ret_stopped = session->stopped;
	*ret_due = end < session->stopped ? end : session->stopped;
}

bool session_command_runs(struct session *session)
{
	return session->plan->command && !launch_has_ended(&session->launch);
}

int session_command_status(struct session *session)
{
	return launch_status(&session->launch);
}
