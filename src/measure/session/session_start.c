// SPDX-License-Identifier: GPL-2.0-or-later
/* Starts a session: tables before the first event, the trigger, the launched command. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/own.h"
#include "drain/unwinder.h"
#include "files/likely_programs.h"
#include "gauge/threads.h"
#include "launch/command_stop.h"
#include "process/sideband.h"
#include "session/session_internal.h"
#include "session/targets.h"
#include "trigger/thread_process.h"

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
	return !session->plan->filter.tgids.n && !session->launch.command &&
	       !session->trigger->ops->stop_waits;
}

bool session_prepares(const struct session *session)
{
	const struct plan_filter *filter = &session->plan->filter;

	return session->unwinder && (filter->tgids.n || filter->tids.n || prepares_all(session) ||
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

struct expected {
	struct session *session;
	struct error *err;
	int r;
};

/* Has the tables of a program's files made if one of them is an interpreter. */
static void expect_program(void *context, const int *fds, uint32_t n)
{
	struct expected *expected = context;
	struct session *session = expected->session;
	bool interprets = false;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t file;

		if (images_learn_file(session->images, fds[i], &file) == 0)
			interprets |= interpreters_expect(session->interpreters, file);
	}
	for (uint32_t i = 0; interprets && i < n && expected->r == 0; i++)
		expected->r = unwinder_expect(session->unwinder, fds[i], expected->err);
}

/*
 * A command may have an interpreter run a short program, which is gone before we hear of it. Walks
 * at probes find files by themselves that have tables (bpf/unwind_ask.bpf.h), and the programs that
 * walk interpreters are loaded before it runs.
 */
int session_expect_command(struct session *session, struct error *err)
{
	struct expected expected = { .session = session, .err = err };
	int r = 0;

	if (!session->launch.command || !session->unwinder)
		return 0;
	images_lock(session->images);
	r = likely_programs_each(session->plan->command, getenv("PATH"), expect_program, &expected);
	images_unlock(session->images);
	if (r < 0)
		return error_set(err, r, "out of memory");
	return expected.r;
}

/* Learns a process, if it is there. */
static int learn_process(struct session *session, pid_t pid)
{
	uint32_t image;

	return pid ? images_at(session->images, pid, 0, monotonic_ns(), &image) : 0;
}

int session_prepare_tables(struct session *session, struct error *err)
{
	const struct id_list *tgids = &session->plan->filter.tgids;
	const struct id_list *tids = &session->plan->filter.tids;
	int r;

	if (!session_prepares(session))
		return 0;
	images_lock(session->images);
	r = images_drain(session->images);
	for (uint32_t i = 0; r == 0 && i < tgids->n; i++)
		r = learn_process(session, (pid_t)tgids->ids[i]);
	for (uint32_t i = 0; r == 0 && i < tids->n; i++)
		r = learn_process(session, thread_process(&tids->ids[i], 1));
	if (r == 0 && prepares_all(session))
		r = images_learn_running(session->images, LEARN_ALL_NS);
	r = r < 0 ? error_set(err, r, "out of memory") : unwinder_prepare(session->unwinder, err);
	images_unlock(session->images);
	return r;
}

/* ---- interpreters ---- */

/* Whether all processes of the machine are measured. */
static bool is_of_all(const struct session *session)
{
	const struct plan_filter *filter = &session->plan->filter;

	return !session->plan->command && !filter->tgids.n && !filter->tids.n && !filter->name &&
	       !filter->user && !filter->exe && !filter->cgroupmap && !filter->mntnsmap &&
	       !cgroup_filter_is_given(&filter->groups);
}

/*
 * The languages that are to be walked. With one that was found come those of other interpreters
 * that run: each more would have all programs verified again.
 */
static uint32_t languages_to_walk(const struct session *session)
{
	const struct walkers *walkers = &session->walkers;
	uint32_t languages = interpreters_languages(session->interpreters);

	if (languages & ~walkers->languages && !interpreted_are_loading(walkers) &&
	    is_of_all(session))
		languages |= interpreters_running();
	return languages | walkers->languages;
}

void session_walk_interpreters(struct session *session)
{
	uint32_t languages;

	if (!session->interpreters)
		return;
	languages = languages_to_walk(session);
	if (languages >> LANGUAGE_JAVA & 1)
		interpreters_try(session->interpreters, kernel_side_java(&session->side),
				 monotonic_ns());
	if (!session->still)
		interpreted_walk(&session->walkers, &session->side, session->trigger, languages);
}

/* ---- starting ---- */

static int note_running(void *runs, const struct found_thread *thread)
{
	*(bool *)runs |= thread->state == 'R';
	return 0;
}

/*
 * Whether a dump is of threads that all sleep: their stacks are walked in user space, functions of
 * interpreted programs and all. Loading the programs that do that in the kernel would take longer
 * than all the rest.
 */
static bool is_still(const struct session *session)
{
	bool runs = false;

	return session->trigger->scope.still ||
	       (session->plan->dump &&
		threads_each(session->plan, session->side.skeleton, note_running, &runs) == 0 &&
		!runs);
}

/* The process of the launched command; 0: none was. */
static pid_t command_of(const struct session *session)
{
	return session->launch.command ? command_pid(session->launch.command) : 0;
}

int session_start(struct session *session, struct error *err)
{
	struct kernel_side *side = &session->side;
	int r = kernel_side_filter(side, session->plan, command_of(session), err);

	if (r < 0)
		return r;
	r = targets_open(session->plan, kernel_side_tgids(side), &session->targets, err);
	if (r == 0 && cgroup_filter_is_given(&session->plan->filter.groups))
		r = groups_open(&session->plan->filter.groups, session->images,
				kernel_side_cgroups(side), &session->groups, err);
	if (r < 0)
		return r;
	r = kernel_side_attach(side, session->trigger, err);
	if (r < 0)
		return r;
	session->attached = true;
	r = session_prepare_tables(session, err); /* of processes that came since */
	if (r < 0)
		return r;
	session->still = is_still(session);
	session_walk_interpreters(session);
	interpreted_await(&session->walkers);
	r = gauge_find(session->gauge, err);
	if (r < 0)
		return r;
	session->accounting.unseen = accounting_unseen(side, session->trigger);
	session->switched = monotonic_ns();
	session->schedule = schedule_begin(session->plan, session->switched);
	gauge_begin(session->gauge, session->switched);
	kernel_side_arm(side, true);
	r = due_begin(session->trigger, side, session->plan->filter.include_idle,
		      &session->accounting.due);
	if (r < 0)
		return error_set(err, r, "cannot read what is due: %s", strerror(-r));
	return 0;
}

/* Makes the tables of what the command has mapped by now, and has its interpreter walked. */
static int prepare_command(struct session *session, struct error *err)
{
	pid_t pid = command_of(session);
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
	interpreted_await(&session->walkers);
	return r;
}

/*
 * Whether what walks the interpreters of processes that sleep all the time is loaded when one of
 * them is sampled. Where all tables are made before the first event, it is loaded then.
 */
static bool spares_idle(const struct session *session)
{
	return session->interpreters && !session_prepares(session) && !session->plan->dump;
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
	if (spares_idle(session))
		interpreters_spare_idle(session->interpreters, true);
	images_learn_running(session->images, LEARN_NS);
	r = unwinder_update(session->unwinder, err);
	if (spares_idle(session))
		interpreters_spare_idle(session->interpreters, false);
	images_unlock(session->images);
	return r;
}

int session_launch(struct session *session, struct error *err)
{
	struct command_stop stop = { 0 };
	int r;

	if (!session->launch.command)
		return learn_running(session, err);
	if (session->unwinder && session->gauge->ops->may_stop_command)
		command_stop_begin(command_of(session), &stop);
	r = command_go(session->launch.command, err);
	if (r == 0 && command_stop_at_exec(&stop))
		r = prepare_command(session, err);
	if (r == 0 && command_stop_at_entry(&stop))
		r = prepare_command(session, err);
	command_stop_end(&stop);
	return r;
}
