// SPDX-License-Identifier: GPL-2.0-or-later
/* Starts a session: tables before the first event, the trigger, the launched command. */
#include <errno.h>
#include <string.h>

#include "base/own.h"
#include "session/command_stop.h"
#include "session/filters.h"
#include "session/session_internal.h"
#include "session/targets.h"
#include "stacktally.skel.h"

/* How long the running processes are learned, at most, before the ring buffer is first drained. */
#define LEARN_NS (10 * NS_PER_MS)

/* The same before the first event, for triggers that may fire thousands of times at once. */
#define LEARN_ALL_NS NS_PER_SECOND

/* ---- tables before the first event ---- */

/*
 * Whether the tables of all processes are made before the first event: for triggers that may fire
 * thousands of times at once. Samples of the clock come one by one, so the walks that lack a table
 * can be finished later.
 */
static bool prepares_all(const struct session *session)
{
	return !session->plan->filter.tgids.n && !session->command &&
	       !session->trigger->ops->stop_waits;
}

bool session_prepares(const struct session *session)
{
	return session->unwinder && (session->plan->filter.tgids.n || prepares_all(session) ||
				     session->trigger->ops->file);
}

/* A probed file may first run when it is probed, and then hit the probe thousands of times. */
int session_expect_file(struct session *session, struct error *err)
{
	int (*file)(const struct trigger *) = session->trigger->ops->file;
	int r = 0;

	images_lock(session->images);
	if (file)
		r = unwinder_expect(session->unwinder, file(session->trigger), err);
	images_unlock(session->images);
	return r;
}

int session_prepare_tables(struct session *session, struct error *err)
{
	const struct id_list *tgids = &session->plan->filter.tgids;
	uint32_t image;
	int r;

	if (!session_prepares(session))
		return 0;
	images_lock(session->images);
	r = images_drain(session->images);
	for (uint32_t i = 0; r == 0 && i < tgids->n; i++)
		r = images_at(session->images, (pid_t)tgids->ids[i], 0, monotonic_ns(), &image);
	if (r == 0 && prepares_all(session))
		r = images_learn_running(session->images, LEARN_ALL_NS);
	r = r < 0 ? error_set(err, r, "out of memory") : unwinder_prepare(session->unwinder, err);
	images_unlock(session->images);
	return r;
}

/* ---- interpreters ---- */

void session_await_interpreters(struct session *session)
{
	struct interpreted_load *load = take_ptr(session->interpreted);

	if (load)
		interpreted_load_end(load, &session->not_interpreted);
}

void session_walk_interpreters(struct session *session)
{
	uint32_t languages =
		session->interpreters ? interpreters_languages(session->interpreters) : 0;

	if (session->interpreted && interpreted_load_is_over(session->interpreted))
		session_await_interpreters(session);
	if (session->interpreted || languages == session->languages)
		return;
	session->languages = languages;
	interpreted_load_begin(&session->side, session->trigger, languages, &session->interpreted,
			       &session->not_interpreted);
}

/* ---- starting ---- */

static uint64_t seconds_from(uint64_t start, double seconds)
{
	return start + (uint64_t)(seconds * (double)NS_PER_SECOND);
}

int session_start(struct session *session, struct error *err)
{
	struct stacktally *skeleton = session->side.skeleton;
	int r = kernel_side_follow_forks(&session->side, err);

	if (r < 0)
		return r;
	r = filters_fill(session->plan, skeleton, err);
	if (r == 0)
		r = targets_open(session->plan, bpf_map__fd(skeleton->maps.tgids),
				 bpf_map__fd(skeleton->maps.cgroup), &session->targets, err);
	if (r < 0)
		return r;
	if (session->command) {
		r = filters_add_process(skeleton, command_pid(session->command), true, err);
		if (r < 0)
			return r;
	}
	r = session->trigger->ops->attach(session->trigger, skeleton->obj, err);
	if (r < 0)
		return r;
	session->attached = true;
	r = session_prepare_tables(session, err); /* of processes that came since */
	if (r < 0)
		return r;
	session_walk_interpreters(session);
	session_await_interpreters(session);
	r = gauge_find(session->gauge, err);
	if (r < 0)
		return r;
	session->accounting.unseen = accounting_unseen(&session->side, session->trigger);
	session->started = monotonic_ns();
	gauge_begin(session->gauge, session->started);
	kernel_side_arm(&session->side, true);
	r = due_begin(session->trigger, &session->side, &session->accounting.due);
	if (r < 0)
		return error_set(err, r, "cannot read what is due: %s", strerror(-r));
	session->next_tick = session->started + TICK_NS;
	session->next_interval = seconds_from(session->started, session->plan->interval);
	session->next_refresh = seconds_from(session->started, session->plan->tick);
	session->switched = session->started;
	session->next_slice = seconds_from(session->started, session->plan->slice);
	return 0;
}

/* Makes the tables of what the command has mapped by now, and has its interpreter walked. */
static int prepare_command(struct session *session, struct error *err)
{
	pid_t pid = command_pid(session->command);
	uint32_t image;
	int r;

	images_lock(session->images);
	r = session->sideband ? sideband_drain(session->sideband) : 0;
	if (r == 0)
		r = images_at(session->images, pid, 0, monotonic_ns(), &image);
	r = r < 0 ? error_set(err, r, "cannot follow the command: %s", strerror(-r))
		  : unwinder_prepare(session->unwinder, err);
	images_unlock(session->images);
	session_walk_interpreters(session);
	session_await_interpreters(session);
	return r;
}

/*
 * Learns the running processes, so that those that end before their first sample is drained are
 * known. Their tables are made at once: until then each of their samples sends a copy of its stack.
 */
static int learn_running(struct session *session, struct error *err)
{
	int r;

	if (!session->sideband || session->plan->filter.tgids.n)
		return 0;
	images_lock(session->images);
	images_learn_running(session->images, LEARN_NS);
	r = unwinder_update(session->unwinder, err);
	images_unlock(session->images);
	return r;
}

int session_launch(struct session *session, struct error *err)
{
	struct command_stop stop = { 0 };
	int r;

	if (!session->command)
		return learn_running(session, err);
	if (session->unwinder && session->gauge->ops->may_stop_command)
		command_stop_begin(command_pid(session->command), &stop);
	r = command_go(session->command, err);
	if (r == 0 && command_stop_at_exec(&stop))
		r = prepare_command(session, err);
	if (r == 0 && command_stop_at_entry(&stop))
		r = prepare_command(session, err);
	command_stop_end(&stop);
	return r;
}
