// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/run.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"
#include "cli/message.h"
#include "process/images.h"
#include "run/run_live.h"
#include "run/run_notes.h"
#include "run/run_report.h"
#include "run/watch.h"
#include "session/session.h"
#include "symbolize/symbolizer.h"

/* Bytes of an allocation that gets pages of its own; glibc's default grows up to 32 MB. */
#define OWN_PAGES_FROM (128 << 10)
/* Addresses that are kept from one interval to the next, beyond twice those of one. */
#define SPARE_ADDRESSES 16384u

DEFINE_OWN(struct images, images_free)
DEFINE_OWN(struct tally, tally_free)
DEFINE_OWN(struct names, names_free)
DEFINE_OWN(struct symbolizer, symbolizer_free)
DEFINE_OWN(struct trigger, trigger_free)
DEFINE_OWN(struct run_live, run_live_close)

/* A measurement under way. */
struct measured {
	struct run_report report;
	struct images *images;
	const struct symbolizer_options *naming;
	uint64_t reported_ns;  /* what intervals before this one took */
	struct watch *watch;   /* NULL: nobody does */
	struct run_live *live; /* NULL: nobody watches from elsewhere */
	pthread_t preparer;    /* reads the kernel's symbols beside the sampling */
	bool preparing;
	time_t told;	/* of progress, when */
	uint32_t usual; /* addresses that an interval has; 0: not known yet */
};

static void *prepare(void *symbolizer)
{
	symbolizer_prepare(symbolizer);
	return NULL;
}

/*
 * The kernel tells its names when they are asked for. Where it cannot, its symbols take tens of ms
 * to read: not while the user waits for the report.
 */
static void begin_preparing(struct measured *measured, struct session *session,
			    struct symbolizer *symbolizer)
{
	struct kernel_lookup asker;

	if (session_kernel_lookup(session, &asker) &&
	    symbolizer_ask_kernel(symbolizer, &asker) == 0)
		return;
	measured->preparing = measured->report.request->plan->kernel &&
			      pthread_create(&measured->preparer, NULL, prepare, symbolizer) == 0;
}

static void end_preparing(struct measured *measured)
{
	if (measured->preparing)
		pthread_join(measured->preparer, NULL);
	measured->preparing = false;
}

/* A line each second for somebody who waits for the report at a terminal. */
static void tell_progress(void *context, uint32_t done, uint32_t total)
{
	struct measured *measured = context;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (measured->told == 0)
		measured->told = now.tv_sec;
	if (now.tv_sec - measured->told < 1 || !isatty(STDERR_FILENO))
		return;
	measured->told = now.tv_sec;
	message_note("looking up names: %u of %u files are done", done, total);
}

static int name_cgroups(struct measured *measured)
{
	const struct tally_entry *entries = tally_entries(measured->report.tally);
	uint64_t last = 0;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < tally_n_entries(measured->report.tally); i++) {
		uint64_t id = entries[i].cgroup;
		const char *path = id && id != last ? images_cgroup(measured->images, id) : NULL;

		last = id;
		if (path)
			r = names_add_cgroup(measured->report.names, id, path);
	}
	return r;
}

/* Names all that the tally has; then it can be shown. */
static int name_all(struct measured *measured, struct session *session,
		    struct symbolizer *symbolizer, struct error *err)
{
	int r;

	end_preparing(measured);
	measured->told = 0;
	measured->report.meta.duration_ns = session_duration(session) - measured->reported_ns;
	run_notes_of_tables(session, &measured->report.meta.unwinding);
	r = symbolizer_resolve(symbolizer, measured->report.tally, measured->report.names, err);
	if (r == 0 && name_cgroups(measured) < 0)
		r = error_set(err, -ENOMEM, "out of memory");
	if (r == 0 && measured->watch)
		r = watch_look(measured->watch, measured->report.tally, measured->report.names,
			       &measured->report.meta, err);
	return r;
}

/* While it runs: for whoever watches. */
static int look(struct measured *measured, struct session *session, struct symbolizer *symbolizer,
		struct error *err)
{
	const struct tally_losses *losses = tally_losses_of(measured->report.tally);

	if (measured->watch)
		return watch_is_due(measured->watch) ? name_all(measured, session, symbolizer, err)
						     : 0;
	if (measured->report.request->plan->progress)
		message_progress("%.0f s, %" PRIu64 " samples, %" PRIu64 " lost",
				 (double)session_duration(session) / 1e9,
				 tally_total(measured->report.tally),
				 losses->lost_ring + losses->lost_counts + losses->lost_nested);
	return 0;
}

/*
 * What is known by name is kept from one interval to the next. But where processes come and go it
 * would grow for ever: then it is forgotten now and then. Those who watch have it all on display.
 */
static int forget(struct measured *measured, struct session *session, struct symbolizer *symbolizer,
		  struct error *err)
{
	uint32_t n = tally_n_addresses(measured->report.tally);
	int r;

	if (measured->watch || measured->live)
		return 0;
	if (!measured->usual)
		measured->usual = n;
	if (n <= 2 * (uint64_t)measured->usual + SPARE_ADDRESSES)
		return 0;
	measured->usual = 0;
	r = session_forget(session, measured->report.tally, err);
	if (r < 0)
		return r;
	r = names_clear(measured->report.names);
	if (r == 0)
		r = symbolizer_forget(symbolizer);
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

static int measure(struct measured *measured, struct session *session,
		   struct symbolizer *symbolizer, struct error *err)
{
	enum session_event event = SESSION_INTERVAL;

	while (event == SESSION_INTERVAL || event == SESSION_TICK) {
		int r = session_run(session, measured->report.tally, &event, err);

		if (r == 0)
			r = run_live_look(measured->live, measured->report.tally,
					  event != SESSION_TICK, err);
		if (r == 0 && event == SESSION_TICK) {
			r = look(measured, session, symbolizer, err);
			if (r < 0)
				return r;
			continue;
		}
		if (measured->report.request->plan->progress)
			message_progress("%s", "");
		if (r == 0)
			r = name_all(measured, session, symbolizer, err);
		/* Who has interrupted it has seen enough. */
		if (r == 0 && measured->watch && event != SESSION_INTERVAL)
			watch_end(measured->watch, event == SESSION_ENDED);
		if (r == 0)
			r = run_report_write(&measured->report, err);
		if (r < 0)
			return r;
		tally_clear(measured->report.tally);
		if (event == SESSION_INTERVAL)
			r = forget(measured, session, symbolizer, err);
		if (r < 0)
			return r;
		measured->report.meta.start_time_ns += measured->report.meta.duration_ns;
		measured->reported_ns += measured->report.meta.duration_ns;
	}
	return 0;
}

static int start_and_measure(struct measured *measured, struct trigger *trigger,
			     struct session *session, struct symbolizer *symbolizer,
			     struct error *err)
{
	const struct run_request *request = measured->report.request;
	own(own_run_live_close) struct run_live *live = NULL;
	struct timespec now;
	char title[512];
	int r = run_live_open(request, &live, err);

	if (r == 0)
		r = session_start(session, err);
	if (r < 0)
		return r;
	clock_gettime(CLOCK_REALTIME, &now);
	measured->report.meta.start_time_ns =
		(uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	measured->report.meta.event = trigger->event;
	measured->report.meta.title = title;
	request->title(request->options, trigger->ops->n_attached(trigger), title, sizeof(title));
	if (request->attached)
		request->attached(request->options, trigger);
	if (!measured->watch)
		r = run_report_announce(&measured->report, err);
	measured->live = live;
	if (r == 0 && live)
		r = run_live_start(live, &measured->report.meta, measured->images, measured->naming,
				   session, err);
	if (r == 0 && measured->watch)
		r = watch_begin(measured->watch, &measured->report.meta, err);
	if (r == 0)
		r = session_launch(session, err);
	if (r < 0)
		return r;
	begin_preparing(measured, session, symbolizer);
	r = measure(measured, session, symbolizer, err);
	end_preparing(measured);
	if (r == 0 && symbolizer_kernel_advice(symbolizer))
		message_note("%s", symbolizer_kernel_advice(symbolizer));
	if (r == 0 && symbolizer_n_broken_inlines(symbolizer))
		message_note("debug information of %u files was not read to the end: inlined "
			     "functions and lines may be missing",
			     symbolizer_n_broken_inlines(symbolizer));
	return r;
}

static void own_session_close(struct session **session)
{
	uint32_t limit = session_close(*session);

	if (limit)
		message_line("WARNING: sysctl kernel.perf_event_max_stack stays raised, because "
			     "another profiler walks stacks; set it back with: "
			     "sysctl kernel.perf_event_max_stack=%u",
			     limit);
}

static int open_and_measure(struct measured *measured, struct trigger *trigger, int *ret_status,
			    struct error *err)
{
	const struct plan *plan = measured->report.request->plan;
	const struct symbolizer_options options = {
		.symfs = getenv("BCC_SYMFS"),
		.debuginfo_root = getenv("BCC_DEBUGINFO_ROOT"),
		.debuginfod = getenv("DEBUGINFOD_URLS") && *getenv("DEBUGINFOD_URLS"),
		.inlines = plan->inlines,
		.lines = plan->lines,
		.progress = tell_progress,
		.progress_context = measured,
	};
	own(own_watch_free) struct watch *watch = NULL;
	own(own_images_free) struct images *images = NULL;
	own(own_symbolizer_free) struct symbolizer *symbolizer = NULL;
	own(own_session_close) struct session *session = NULL;
	int r = images_new(&(struct images_options){ 0 }, &images);

	measured->images = images;
	measured->naming = &options;
	if (r == 0)
		r = symbolizer_new(images, &options, &symbolizer);
	if (r == 0 && plan->tui)
		r = watch_new(&measured->report.request->report, &watch);
	if (r < 0)
		return error_set(err, r, "out of memory");
	measured->watch = watch;
	if (watch && plan->command)
		r = watch_shield(watch, err);
	if (r == 0)
		r = session_open(plan, trigger, images, symbolizer_kernel(symbolizer), &session,
				 err);
	if (watch)
		watch_unshield(watch);
	if (r < 0)
		return r;
	if (session_warning(session))
		message_line("%s", session_warning(session));
	r = start_and_measure(measured, trigger, session, symbolizer, err);
	run_notes_of_unwinding(session);
	run_notes_of_images(images);
	if (r == 0)
		r = run_report_finish(&measured->report, err);
	if (r == 0)
		*ret_status = session_command_status(session);
	return r;
}

static int measure_and_report(const struct run_request *request, struct trigger *trigger,
			      int *ret_status, struct error *err)
{
	const struct plan *plan = request->plan;
	own(own_tally_free) struct tally *tally = NULL;
	own(own_names_free) struct names *names = NULL;
	struct measured measured = { .report = { .request = request, .meta = request->meta } };
	struct utsname system;
	int r = tally_new(plan->hash_storage, plan->stack_storage, &tally);

	if (r == 0)
		r = names_new(&names);
	if (r < 0)
		return error_set(err, r, "out of memory");
	if (uname(&system) == 0) {
		measured.report.meta.hostname = system.nodename;
		measured.report.meta.kernel_release = system.release;
	}
	measured.report.tally = tally;
	measured.report.names = names;
	r = run_report_open(&measured.report, plan->interval > 0, err);
	if (r == 0)
		r = open_and_measure(&measured, trigger, ret_status, err);
	run_report_close(&measured.report);
	return r;
}

int run(const struct run_request *request, struct trigger *trigger)
{
	own(own_trigger_free) struct trigger *owned = trigger;
	struct error err = { 0 };
	int status = -1;

	/* Tables are compiled in large pieces, which go back to the machine when they are done
	 * with. */
	mallopt(M_MMAP_THRESHOLD, OWN_PAGES_FROM);
	session_set_log(message_libbpf);
	if (measure_and_report(request, owned, &status, &err) < 0)
		return message_error(request->program, &err);
	return status < 0 ? EXIT_CLASS_OK : status;
}
