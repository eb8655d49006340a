// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/own.h"
#include "process/sideband.h"
#include "session/book.h"
#include "session/capability.h"
#include "session/command.h"
#include "session/depth.h"
#include "session/filters.h"
#include "session/hang.h"
#include "session/hold.h"
#include "session/kernel_side.h"
#include "session/ledger.h"
#include "session/ring.h"
#include "session/signals.h"
#include "session/unwinder.h"
#include "stacktally.skel.h"

#define NS_PER_SECOND 1000000000ull
#define NS_PER_MS     1000000ull

/* How often the ring is looked at without being woken, and the trigger's tick is called. */
#define DRAIN_NS (100 * NS_PER_MS)
#define TICK_NS	 NS_PER_SECOND

/* At most so long is spent on reading what runs already, before the first look at the ring. */
#define LEARN_NS (10 * NS_PER_MS)

/* And before the first event, where many may come at once. */
#define LEARN_ALL_NS (200 * NS_PER_MS)

#define DRAIN_NICE (-10)

struct session {
	const struct plan *plan;
	struct trigger *trigger;
	struct worlds *worlds;
	struct kernel_side side;
	struct book *books[WIRE_EPOCHS];
	struct ring *ring;
	struct sideband *sideband; /* NULL without user stacks */
	struct unwinder *unwinder; /* NULL when there are no tables */
	struct command *command;
	struct ledger ledger;
	uint64_t started, stopped, next_interval, next_look, next_tick;
	uint32_t stack_limit_before;
	struct signals signals;
	bool attached;
	bool passed_on;	     /* a signal went on to the command: the next one is for us */
	struct tally *tally; /* of the session_run() under way */
	char warning[512];
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

void session_set_log(int (*log)(int level, const char *format, va_list args))
{
	/* enum libbpf_print_level is an int to those who need not know libbpf. */
	libbpf_set_print((libbpf_print_fn_t)(void *)log);
}

/* ---- opening ---- */

static void read_line(const char *path, char *line, size_t size)
{
	own(own_file) FILE *file = fopen(path, "re");

	if (!file || !fgets(line, (int)size, file))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
}

static int check_hang(struct session *session, struct error *err)
{
	char signature[256], level[32];
	struct utsname name;
	enum hang_risk risk;

	if (uname(&name) < 0)
		return 0;
	read_line("/proc/version_signature", signature, sizeof(signature));
	risk = hang_risk(name.release, name.version, signature, level);
	if (risk == HANG_AFFECTED && !session->plan->force)
		return error_privilege(
			err, -EOPNOTSUPP,
			"this kernel (%s, patch level %s) can hang when a BPF program "
			"reads user memory (fixed in 6.1.36, 6.3.10 and 6.4): update "
			"it, or take the risk with --force",
			name.release, level);
	if (risk != HANG_SAFE)
		snprintf(
			session->warning, sizeof(session->warning),
			"WARNING: kernels of this version (%s) could hang when a BPF program reads "
			"user memory, unless the fix of 6.4 (d319f344561d) was carried back.",
			level);
	return 0;
}

/* One descriptor a CPU and more: the soft limit is for programs that use select(). */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/*
 * A machine that is busy enough to be measured must not keep us from draining: what we do takes
 * little time, but it cannot wait for long. The command was forked before, and stays as it is.
 */
static void go_first(void)
{
	setpriority(PRIO_PROCESS, 0, DRAIN_NICE);
}

/* From before the first sample on, so that no process comes or goes unseen. */
static int open_sideband(struct session *session, struct error *err)
{
	int r = session->plan->user ? sideband_open(session->worlds, &session->sideband) : 0;

	if (r == -EACCES || r == -EPERM)
		return error_privilege(err, r,
				       "cannot follow what processes map and execute: %s; it takes "
				       "root or CAP_PERFMON",
				       strerror(-r));
	if (r < 0)
		return error_set(err, r, "cannot follow what processes map and execute: %s",
				 strerror(-r));
	return 0;
}

static int open_session(struct session *session, struct error *err)
{
	int r = capability_check(err);

	if (r == 0)
		r = check_hang(session, err);
	if (r == 0)
		r = signals_block(&session->signals, err);
	if (r == 0)
		r = depth_raise(session->plan->max_depth, &session->stack_limit_before, err);
	if (r == 0 && session->plan->command)
		r = command_new(session->plan->command, &session->command, err);
	if (r < 0)
		return r;
	raise_file_limit();
	go_first();
	r = open_sideband(session, err);
	if (r == 0)
		r = kernel_side_open(session->plan, session->trigger, &session->side, err);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < WIRE_EPOCHS; i++)
		if (book_new(session->worlds, session->plan->filter.name, session->side.seed,
			     &session->books[i]) < 0)
			return error_set(err, -ENOMEM, "out of memory");
	r = unwinder_open(session->plan, &session->side, session->worlds, &session->unwinder, err);
	if (r < 0)
		return r;
	r = ring_new(kernel_side_ring(&session->side), session->side.ring_size, &session->ring);
	if (r < 0)
		return error_set(err, r, "cannot map the ring: %s", strerror(-r));
	return 0;
}

/* Adds to the error what else somebody has to know. */
static void say_limit(uint32_t limit, struct error *err)
{
	size_t used = err ? strlen(err->text) : 0;

	if (err && limit)
		snprintf(err->text + used, sizeof(err->text) - used,
			 "; sysctl kernel.perf_event_max_stack stays raised, it was %u", limit);
}

int session_open(const struct plan *plan, struct trigger *trigger, struct worlds *worlds,
		 struct session **ret_session, struct error *err)
{
	struct session *session = calloc(1, sizeof(*session));
	int r;

	if (!session)
		return error_set(err, -ENOMEM, "out of memory");
	session->plan = plan;
	session->trigger = trigger;
	session->worlds = worlds;
	session->ledger.keys_limited = plan->hash_storage;
	session->signals = SIGNALS_NONE;
	trigger->scope.cpu = plan->filter.cpu;
	/* Children that are followed are other processes. */
	if (plan->filter.tgids.n == 1 && !plan->filter.follow_forks)
		trigger->scope.pid = plan->filter.tgids.ids[0];
	r = open_session(session, err);
	if (r < 0) {
		say_limit(session_close(session), err);
		return r;
	}
	*ret_session = session;
	return 0;
}

const char *session_warning(const struct session *session)
{
	return session->warning[0] ? session->warning : NULL;
}

/* ---- starting ---- */

/*
 * What is there to be walked from the first event on: processes that were chosen, and all where
 * events come by the thousand. Samples come one by one, and those that lack a table are finished
 * later.
 */
static int prepare_tables(struct session *session, struct error *err)
{
	const struct id_list *tgids = &session->plan->filter.tgids;
	bool all = !tgids->n && !session->command && !session->trigger->ops->stop_settles;
	uint32_t world;
	int r = 0;

	if (!session->unwinder || (!tgids->n && !all))
		return 0;
	worlds_lock(session->worlds);
	for (uint32_t i = 0; r == 0 && i < tgids->n; i++)
		r = worlds_at(session->worlds, (pid_t)tgids->ids[i], 0, now_ns(), &world);
	if (r == 0 && all)
		r = worlds_learn_running(session->worlds, LEARN_ALL_NS);
	r = r < 0 ? error_set(err, r, "out of memory") : unwinder_prepare(session->unwinder, err);
	worlds_unlock(session->worlds);
	return r;
}

int session_start(struct session *session, struct error *err)
{
	int r = kernel_side_follow_forks(&session->side, err);

	if (r == 0)
		r = filters_fill(session->plan, session->side.skeleton, err);
	if (r == 0 && session->command)
		r = filters_add_process(session->side.skeleton, command_pid(session->command), true,
					err);
	if (r == 0)
		r = session->trigger->ops->attach(session->trigger, session->side.skeleton->obj,
						  err);
	if (r < 0)
		return r;
	session->attached = true;
	r = prepare_tables(session, err);
	if (r < 0)
		return r;
	session->started = now_ns();
	kernel_side_arm(&session->side, true);
	/* Those that end before their first sample is drained are known too. */
	if (session->sideband && !session->plan->filter.tgids.n && !session->command)
		worlds_learn_running(session->worlds, LEARN_NS);
	session->next_tick = session->started + TICK_NS;
	session->next_interval =
		session->started + (uint64_t)(session->plan->interval * (double)NS_PER_SECOND);
	session->next_look =
		session->started + (uint64_t)(session->plan->tick * (double)NS_PER_SECOND);
	return 0;
}

/* What the command has mapped by now can be walked from here on. */
static int prepare_command(struct session *session, struct error *err)
{
	pid_t pid = command_pid(session->command);
	uint32_t world;
	int r;

	worlds_lock(session->worlds);
	r = session->sideband ? sideband_drain(session->sideband) : 0;
	if (r == 0)
		r = worlds_at(session->worlds, pid, 0, now_ns(), &world);
	r = r < 0 ? error_set(err, r, "cannot follow the command: %s", strerror(-r))
		  : unwinder_prepare(session->unwinder, err);
	worlds_unlock(session->worlds);
	return r;
}

int session_launch(struct session *session, struct error *err)
{
	struct hold hold = { 0 };
	int r;

	if (!session->command)
		return 0;
	if (session->unwinder)
		hold_begin(command_pid(session->command), &hold);
	r = command_go(session->command, err);
	if (r == 0 && hold_at_exec(&hold))
		r = prepare_command(session, err);
	if (r == 0 && hold_at_entry(&hold))
		r = prepare_command(session, err);
	hold_end(&hold);
	return r;
}

/* ---- draining ---- */

/* Before the table of this epoch fills up, unless the user has set its size. */
static bool must_turn(const struct session *session)
{
	return (!session->plan->hash_storage && kernel_side_must_turn(&session->side)) ||
	       unwinder_is_full(session->unwinder);
}

static int on_record(void *context, const void *data, size_t size)
{
	struct session *session = context;
	const struct wire_stack *stack = data;

	if (size < sizeof(*stack))
		return -EPROTO;
	unwinder_saw(session->unwinder, stack);
	if (stack->kind == WIRE_KIND_UNFINISHED)
		return unwinder_keep(session->unwinder, data, size);
	return book_record(session->books[stack->epoch & (WIRE_EPOCHS - 1)], session->tally, data,
			   size);
}

/* The same, but for a stop when the epoch has to end first. */
static int on_record_in_time(void *context, const void *data, size_t size)
{
	int r = on_record(context, data, size);

	return r == 0 ? must_turn(context) : r;
}

static int consume(struct session *session,
		   int (*take)(void *context, const void *record, size_t size), struct error *err)
{
	int r = 0;

	worlds_lock(session->worlds);
	if (session->sideband)
		r = sideband_drain(session->sideband);
	if (r == 0)
		r = ring_consume(session->ring, take, session);
	if (r == 0)
		r = unwinder_update(session->unwinder, err);
	worlds_unlock(session->worlds);
	return r < 0 ? error_set(err, r, "cannot take a stack from the ring: %s", strerror(-r)) : 0;
}

struct drain {
	struct session *session;
	struct book *book;
};

static int on_count(void *context, const struct wire_hash *hash, uint64_t count)
{
	struct drain *drain = context;
	struct session *session = drain->session;
	int r = book_count(drain->book, session->tally, hash, count);

	/* A key without a stack cannot be: it is entered only after its stack was sent. */
	if (r < 0)
		return r;
	session->ledger.drained += count;
	session->ledger.unwanted += r ? 0 : count;
	return 0;
}

/* Ends the walks of an epoch that wait for tables. */
static int finish_walks(struct session *session, uint32_t epoch, struct error *err)
{
	int r;

	worlds_lock(session->worlds);
	r = unwinder_finish(session->unwinder, epoch, session->books[epoch], session->tally, err);
	worlds_unlock(session->worlds);
	return r;
}

/* Into the tally with what is in no table. */
static int flush(struct session *session, uint32_t epoch, struct error *err)
{
	uint64_t count = 0, unwanted = 0;
	int r = book_flush(session->books[epoch], session->tally, &count, &unwanted);

	session->ledger.drained += count;
	session->ledger.unwanted += unwanted;
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

static int drain(struct session *session, uint32_t epoch, struct error *err)
{
	struct drain context = { .session = session, .book = session->books[epoch] };
	/* All of the ended epoch are there by now; those of the next wait in its own book. */
	int r = consume(session, on_record, err);

	if (r == 0)
		r = epochs_drain(session->side.epochs, epoch, on_count, &context, err);
	if (r == 0)
		r = finish_walks(session, epoch, err);
	if (r == 0)
		r = flush(session, epoch, err);
	book_clear(session->books[epoch]);
	return r;
}

static int turn_and_drain(struct session *session, struct error *err)
{
	int ended = epochs_turn(session->side.epochs, err);

	return ended < 0 ? ended : drain(session, (uint32_t)ended, err);
}

/* ---- the loop ---- */

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
	int r = 0;

	/* What takes long to detach is only disarmed here; session_close() detaches it. */
	kernel_side_arm(&session->side, false);
	session->stopped = now_ns();
	if (session->trigger->ops->stop_settles)
		session->trigger->ops->stop(session->trigger);
	else
		r = epochs_settle(session->side.epochs, err);
	if (r == 0)
		r = drain(session, epochs_now(session->side.epochs), err);
	if (r == 0)
		r = ledger_close(&session->ledger, &session->side, session->trigger,
				 tally_losses(session->tally), true, err);
	signals_restore(&session->signals);
	return r;
}

int session_run(struct session *session, struct tally *tally, enum session_event *ret_event,
		struct error *err)
{
	enum session_event event;
	int r = 0;

	session->tally = tally;
	while (!is_over(session, &event)) {
		wait_for_something(session);
		r = consume(session, on_record_in_time, err);
		if (r == 0 && must_turn(session))
			r = turn_and_drain(session, err);
		if (r < 0)
			return r;
		if (session->trigger->ops->tick && now_ns() >= session->next_tick) {
			session->trigger->ops->tick(session->trigger);
			session->next_tick = now_ns() + TICK_NS;
		}
	}
	if (event == SESSION_INTERVAL || event == SESSION_TICK) {
		r = turn_and_drain(session, err);
		if (r == 0)
			r = ledger_close(&session->ledger, &session->side, session->trigger,
					 tally_losses(session->tally), false, err);
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

uint32_t session_close(struct session *session)
{
	uint32_t limit_left;

	if (!session)
		return 0;
	if (session->attached)
		session->trigger->ops->stop(session->trigger);
	signals_close(&session->signals);
	command_free(session->command);
	ring_free(session->ring);
	unwinder_close(session->unwinder);
	for (uint32_t i = 0; i < WIRE_EPOCHS; i++)
		book_free(session->books[i]);
	kernel_side_close(&session->side);
	sideband_close(session->sideband);
	limit_left = session->stack_limit_before;
	if (depth_restore(limit_left) == 0)
		limit_left = 0;
	free(session);
	return limit_left;
}
