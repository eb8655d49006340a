// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens and closes a session. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "base/cpu_list.h"
#include "base/own.h"
#include "base/seccomp.h"
#include "base/thread.h"
#include "gauge/threads.h"
#include "kernel/paranoid.h"
#include "loader/filters.h"
#include "session/session_internal.h"
#include "session/targets.h"
#include "trigger/thread_process.h"

void session_set_log(int (*log)(int level, const char *format, va_list args))
{
	/* For callers that do not know libbpf its enum libbpf_print_level is an int. */
	libbpf_set_print((libbpf_print_fn_t)(void *)log);
}

/* ---- opening ---- */

/* Opened before the first event, so that no process comes or goes unnoticed. */
static int open_sideband(struct session *session, struct error *err)
{
	int r = session->plan->user ? sideband_open(session->images, &session->sideband) : 0;
	char text[SECCOMP_REMEDY_SIZE];
	const char *filter = seccomp_remedy("perf_event_open", r, text, sizeof(text));

	if (filter)
		return error_privilege(err, r,
				       "cannot follow what processes map and execute: %s; %s",
				       strerror(-r), filter);
	if (r == -ENOSYS)
		return error_privilege(err, r,
				       "cannot follow what processes map and execute: this kernel "
				       "has no perf events (CONFIG_PERF_EVENTS)");
	if (r == -EACCES || r == -EPERM)
		return error_privilege(err, r,
				       "cannot follow what processes map and execute: %s; %s",
				       strerror(-r), paranoid_remedy());
	if (r < 0 && access(CPU_LIST_ONLINE, F_OK) < 0)
		return error_set(err, r,
				 "cannot read " CPU_LIST_ONLINE ": /sys is not mounted: "
				 "mount -t sysfs sysfs /sys");
	if (r < 0)
		return error_set(err, r, "cannot follow what processes map and execute: %s",
				 strerror(-r));
	return 0;
}

static int open_unwinder(struct session *session, struct error *err)
{
	struct unwind_maps *maps;
	int r = interpreters_new(session->images, session->side.interpreters,
				 &session->interpreters);

	if (r < 0)
		return error_set(err, r, "out of memory");
	r = kernel_side_unwind_maps(&session->side, &maps, err);
	if (r < 0)
		return r;
	return unwinder_open(session->plan, maps, session->images, session->interpreters,
			     &session->unwinder, err);
}

static int open_drain(struct session *session, struct kernel_names *kernel, struct scripts *scripts,
		      struct error *err)
{
	const struct gauge_ops *ops = gauge_of(session->plan);
	struct drain_options options = {
		.plan = session->plan,
		.keeping = &ops->keeping,
		.images = session->images,
		.sideband = session->sideband,
		.unwinder = session->unwinder,
		.interpreters = session->interpreters,
		.scripts = scripts,
		.kernel = kernel,
		.tracing = session->trigger->frames != TRIGGER_FRAMES_NONE,
		.raw = session->trigger->frames == TRIGGER_FRAMES_RAW_TRACEPOINT,
		.epochs = session->side.epochs,
		.ring = kernel_side_ring(&session->side),
		.ring_size = session->side.ring_size,
		.epoch_stacks = session->side.epoch_stacks,
	};
	int r;

	memcpy(options.seed, session->side.seed, sizeof(options.seed));
	r = drain_new(&options, &session->drain, err);
	if (r < 0)
		return r;
	return ops->open(session->plan, session->side.skeleton, session->drain, &session->gauge,
			 err);
}

struct loading {
	struct kernel_side *side;
	struct error err;
	int r;
};

static void *load(void *context)
{
	struct loading *loading = context;

	loading->r = kernel_side_load(loading->side, &loading->err);
	return NULL;
}

/* Makes the tables while a thread loads the programs: each takes some 20 ms. */
static int load_and_prepare(struct session *session, struct error *err)
{
	struct loading loading = { .side = &session->side };
	pthread_t thread;
	int r;

	if (!session_prepares(session))
		return kernel_side_load(&session->side, err);
	r = thread_start(&thread, load, &loading);
	if (r < 0)
		return error_set(err, r, "cannot start a thread: %s", strerror(-r));
	r = session_prepare_tables(session, err);
	pthread_join(thread, NULL);
	if (loading.r < 0) {
		if (err)
			*err = loading.err;
		return loading.r;
	}
	return r;
}

static int open_session(struct session *session, struct kernel_names *kernel,
			struct scripts *scripts, struct error *err)
{
	const struct plan *plan = session->plan;
	int r = launch_begin(plan->reload, &session->launch, err);

	if (r < 0)
		return r;
	r = prepare_machine(plan, &session->prepared, err);
	if (r < 0)
		return r;
	r = launch_fork(&session->launch, plan->command, plan->command_nice, err);
	if (r < 0)
		return r;
	prepare_descriptors();
	images_set_marker(session->images, interpreters_mark);
	r = open_sideband(session, err);
	if (r < 0)
		return r;
	r = kernel_side_open(plan, session->trigger, session->prepared.max_stack, &session->side,
			     err);
	if (r < 0)
		return r;
	if (session->side.has_tables) {
		r = open_unwinder(session, err);
		if (r < 0)
			return r;
	}
	r = session_expect_file(session, err);
	if (r == 0)
		r = session_expect_command(session, err);
	if (r < 0)
		return r;
	r = load_and_prepare(session, err);
	if (r < 0)
		return r;
	return open_drain(session, kernel, scripts, err);
}

/* Adds to the error that the sysctl could not be restored. */
static void say_limit(uint32_t limit, struct error *err)
{
	size_t used = err ? strlen(err->text) : 0;

	if (err && limit)
		snprintf(err->text + used, sizeof(err->text) - used,
			 "; sysctl kernel.perf_event_max_stack stays raised, it was %u", limit);
}

static int open_once(const struct plan *plan, struct trigger *trigger, struct images *images,
		     struct kernel_names *kernel, struct scripts *scripts,
		     struct session **ret_session, struct error *err)
{
	struct session *session = calloc(1, sizeof(*session));
	int r;

	if (!session)
		return error_set(err, -ENOMEM, "out of memory");
	session->plan = plan;
	session->trigger = trigger;
	session->images = images;
	session->launch = LAUNCH_NONE;
	session->side = KERNEL_SIDE_NONE;
	r = filters_cpus(&plan->filter, &session->cpus, err);
	if (r < 0) {
		free(session);
		return r;
	}
	trigger->scope.cpus = session->cpus;
	trigger->scope.calls = plan_has_calls(plan) || plan->calls.outstanding;
	/* Not when children are followed: those are other processes. */
	if (plan->filter.tgids.n == 1 && !plan->filter.follow_forks)
		trigger->scope.pid = plan->filter.tgids.ids[0];
	else if (plan->filter.tids.n > 0 && !plan->filter.follow_forks)
		trigger->scope.pid = thread_process(plan->filter.tids.ids, plan->filter.tids.n);
	r = open_session(session, kernel, scripts, err);
	if (r < 0) {
		say_limit(session_close(session), err);
		return r;
	}
	*ret_session = session;
	return 0;
}

/*
 * The most turns on CPUs that threads may have while the programs are loaded: threads with so few
 * soon sleep again, and their stacks can be walked then. Threads that nap for a ms have more.
 */
#define TURNS_MOST 8

/* Whether a dump is of processes of which nothing runs now; gives the sum of their turns. */
static bool sleeps(const struct plan *plan, uint64_t *ret_turns)
{
	return plan->dump && !plan->dump_runs && plan_chosen(plan) && !plan->filter.tids.n &&
	       threads_all_sleep(&plan->filter.tgids, ret_turns);
}

int session_open(const struct plan *plan, struct trigger *trigger, struct images *images,
		 struct kernel_names *kernel, struct scripts *scripts, struct session **ret_session,
		 struct error *err)
{
	uint64_t turns;
	int r;

	trigger->scope.still = sleeps(plan, &turns);
	r = open_once(plan, trigger, images, kernel, scripts, ret_session, err);
	if (r < 0 || !trigger->scope.still ||
	    threads_turns(&plan->filter.tgids) - turns <= TURNS_MOST)
		return r;
	say_limit(session_close(*ret_session), err);
	trigger->scope.still = false;
	return open_once(plan, trigger, images, kernel, scripts, ret_session, err);
}

bool session_describe_targets(const struct session *session, char *ret_text, size_t size)
{
	uint64_t changes, lost;

	kernel_side_cgroup_changes(&session->side, &changes, &lost);
	return targets_describe(session->targets, ret_text, size) ||
	       groups_describe(session->groups, lost, ret_text, size);
}

const char *session_warning(const struct session *session)
{
	return session->prepared.warning[0] ? session->prepared.warning : NULL;
}

const char *session_refused(const struct session *session, pid_t *ret_tgid)
{
	return session->interpreters ? interpreters_refused(session->interpreters, ret_tgid) : NULL;
}

const char *session_not_interpreted(const struct session *session)
{
	return session->walkers.why_not.text[0] ? session->walkers.why_not.text : NULL;
}

bool session_kernel_lookup(const struct session *session, struct kernel_lookup *ret_lookup)
{
	return kernel_side_lookup(&session->side, ret_lookup);
}

/* ---- closing ---- */

uint32_t session_close(struct session *session)
{
	uint32_t limit_left;

	if (!session)
		return 0;
	if (session->attached) {
		kernel_side_arm(&session->side, false);
		session->trigger->ops->stop(session->trigger);
	}
	interpreted_await(&session->walkers);
	launch_close(&session->launch);
	targets_close(session->targets);
	groups_close(session->groups);
	due_free(session->accounting.due);
	gauge_close(session->gauge);
	drain_free(session->drain);
	unwinder_close(session->unwinder);
	interpreters_free(session->interpreters);
	kernel_side_close(&session->side);
	sideband_close(session->sideband);
	limit_left = prepare_restore(&session->prepared);
	cpu_list_clear(&session->cpus);
	free(session);
	return limit_left;
}
