// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens, starts and closes a session; all that is done once. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include <bpf/libbpf.h>

#include "base/own.h"
#include "base/thread.h"
#include "kernel/hang.h"
#include "kernel/kernel_names.h"
#include "kernel/paranoid.h"
#include "kernel/tracepoint_frames.h"
#include "session/capability.h"
#include "session/depth.h"
#include "session/filters.h"
#include "session/hold.h"
#include "session/kernel_lookup.h"
#include "session/session_internal.h"
#include "stacktally.skel.h"

/* At most so long is spent on reading what runs already, before the first look at the ring. */
#define LEARN_NS (10 * NS_PER_MS)

/* And before the first event, where many may come at once. */
#define LEARN_ALL_NS NS_PER_SECOND

#define DRAIN_NICE (-10)

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
	int r = session->plan->user ? sideband_open(session->images, &session->sideband) : 0;

	if (r == -EACCES || r == -EPERM)
		return error_privilege(err, r,
				       "cannot follow what processes map and execute: %s; %s",
				       strerror(-r), paranoid_remedy());
	if (r < 0)
		return error_set(err, r, "cannot follow what processes map and execute: %s",
				 strerror(-r));
	return 0;
}

static bool find_symbol(void *kernel, uint64_t address, struct kernel_symbol *ret_symbol)
{
	return kernel_names_find(kernel, address, ret_symbol);
}

static int open_books(struct session *session, struct kernel_names *kernel, struct error *err)
{
	struct book_options options = {
		.images = session->images,
		.name = session->plan->filter.name,
		.kernel_depth = session->plan->kernel_depth,
	};
	bool raw = session->trigger->delivery == TRIGGER_DELIVERS_RAW_TRACEPOINT;
	int r = 0;

	memcpy(options.seed, session->side.seed, sizeof(options.seed));
	if (session->trigger->delivery != TRIGGER_DELIVERS_NOTHING)
		r = tracepoint_frames_new(find_symbol, kernel, raw, &session->tracepoint_frames);
	options.tracepoint_frames = session->tracepoint_frames;
	for (uint32_t i = 0; r == 0 && i < WIRE_EPOCHS; i++)
		r = book_new(&options, &session->books[i]);
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

/* ---- what is there before the first event ---- */

/*
 * What is there to be walked from the first event on: processes that were chosen, and all where
 * events come by the thousand. Samples come one by one, and those that lack a table are finished
 * later.
 */
static bool prepares_all(const struct session *session)
{
	return !session->plan->filter.tgids.n && !session->command &&
	       !session->trigger->ops->stop_settles;
}

static bool prepares(const struct session *session)
{
	return session->unwinder && (session->plan->filter.tgids.n || prepares_all(session));
}

static int prepare_tables(struct session *session, struct error *err)
{
	const struct id_list *tgids = &session->plan->filter.tgids;
	uint32_t image;
	int r;

	if (!prepares(session))
		return 0;
	images_lock(session->images);
	r = images_drain(session->images);
	for (uint32_t i = 0; r == 0 && i < tgids->n; i++)
		r = images_at(session->images, (pid_t)tgids->ids[i], 0, now_ns(), &image);
	if (r == 0 && prepares_all(session))
		r = images_learn_running(session->images, LEARN_ALL_NS);
	r = r < 0 ? error_set(err, r, "out of memory") : unwinder_prepare(session->unwinder, err);
	images_unlock(session->images);
	return r;
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

/*
 * Tables are read while the verifier is at work: each takes some 20 ms, and neither needs the
 * other.
 */
static int load_and_prepare(struct session *session, struct error *err)
{
	struct loading loading = { .side = &session->side };
	pthread_t thread;
	int r;

	if (!prepares(session))
		return kernel_side_load(&session->side, err);
	r = thread_start(&thread, load, &loading);
	if (r < 0)
		return error_set(err, r, "cannot start a thread: %s", strerror(-r));
	r = prepare_tables(session, err);
	pthread_join(thread, NULL);
	if (loading.r < 0) {
		if (err)
			*err = loading.err;
		return loading.r;
	}
	return r;
}

/* Frames of the deepest stack that the kernel walks for us. */
static uint32_t depth_of_kernel_walks(const struct plan *plan)
{
	uint32_t kernel = plan->kernel ? plan->kernel_depth : 0;
	uint32_t user = plan->user && plan->unwind == PLAN_UNWIND_FP ? plan->user_depth : 0;

	return kernel > user ? kernel : user;
}

static int open_session(struct session *session, struct kernel_names *kernel, struct error *err)
{
	uint32_t limit;
	int r = capability_check(err);

	if (r == 0)
		r = check_hang(session, err);
	if (r == 0)
		r = signals_block(&session->signals, err);
	if (r == 0)
		r = depth_raise(depth_of_kernel_walks(session->plan), &session->stack_limit_before,
				&limit, err);
	if (r == 0 && session->plan->command)
		r = command_new(session->plan->command, &session->command, err);
	if (r < 0)
		return r;
	raise_file_limit();
	go_first();
	r = open_sideband(session, err);
	if (r == 0)
		r = kernel_side_open(session->plan, session->trigger, limit, &session->side, err);
	if (r == 0)
		r = unwinder_open(session->plan, &session->side, session->images,
				  &session->unwinder, err);
	if (r == 0)
		r = load_and_prepare(session, err);
	if (r == 0)
		r = open_books(session, kernel, err);
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

int session_open(const struct plan *plan, struct trigger *trigger, struct images *images,
		 struct kernel_names *kernel, struct session **ret_session, struct error *err)
{
	struct session *session = calloc(1, sizeof(*session));
	int r;

	if (!session)
		return error_set(err, -ENOMEM, "out of memory");
	session->plan = plan;
	session->trigger = trigger;
	session->images = images;
	session->signals = SIGNALS_NONE;
	session->side = KERNEL_SIDE_NONE;
	trigger->scope.cpu = plan->filter.cpu;
	/* Children that are followed are other processes. */
	if (plan->filter.tgids.n == 1 && !plan->filter.follow_forks)
		trigger->scope.pid = plan->filter.tgids.ids[0];
	r = open_session(session, kernel, err);
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

bool session_kernel_lookup(const struct session *session, struct kernel_lookup *ret_asker)
{
	return kernel_lookup_get(session->side.skeleton, ret_asker);
}

/* ---- starting ---- */

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
	r = prepare_tables(session, err); /* of what came since */
	if (r < 0)
		return r;
	session->ledger.unseen = kernel_side_misses(&session->side);
	session->started = now_ns();
	kernel_side_arm(&session->side, true);
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
	uint32_t image;
	int r;

	images_lock(session->images);
	r = session->sideband ? sideband_drain(session->sideband) : 0;
	if (r == 0)
		r = images_at(session->images, pid, 0, now_ns(), &image);
	r = r < 0 ? error_set(err, r, "cannot follow the command: %s", strerror(-r))
		  : unwinder_prepare(session->unwinder, err);
	images_unlock(session->images);
	return r;
}

int session_launch(struct session *session, struct error *err)
{
	struct hold hold = { 0 };
	int r;

	if (!session->command) {
		/*
		 * Those that end before their first sample is drained are known too; and tables are
		 * made at once: what is sampled until they are there sends its whole stack.
		 */
		if (!session->sideband || session->plan->filter.tgids.n)
			return 0;
		images_lock(session->images);
		images_learn_running(session->images, LEARN_NS);
		r = unwinder_update(session->unwinder, err);
		images_unlock(session->images);
		return r;
	}
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
	signals_close(&session->signals);
	command_free(session->command);
	ring_free(session->ring);
	unwinder_close(session->unwinder);
	for (uint32_t i = 0; i < WIRE_EPOCHS; i++)
		book_free(session->books[i]);
	tracepoint_frames_free(session->tracepoint_frames);
	kernel_side_close(&session->side);
	sideband_close(session->sideband);
	limit_left = session->stack_limit_before;
	if (depth_restore(limit_left) == 0)
		limit_left = 0;
	free(session);
	return limit_left;
}
