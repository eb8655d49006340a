// SPDX-License-Identifier: GPL-2.0-or-later
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"
#include "cli/message.h"
#include "compared.h"
#include "outputs.h"
#include "process/worlds.h"
#include "recording/recording.h"
#include "report/ends.h"
#include "report/warnings.h"
#include "run_live.h"
#include "session/session.h"
#include "session/unwinder.h"
#include "symbolize/symbolizer.h"
#include "watch.h"

DEFINE_OWN(struct worlds, worlds_free)
DEFINE_OWN(struct tally, tally_free)
DEFINE_OWN(struct names, names_free)
DEFINE_OWN(struct symbolizer, symbolizer_free)
DEFINE_OWN(struct trigger, trigger_free)
DEFINE_OWN(struct recording, recording_free)
DEFINE_OWN(struct run_live, run_live_close)

/* What a report is made of, live or loaded. */
struct measured {
	const struct run_request *request;
	struct profile_meta meta;
	struct tally *tally;
	struct names *names;
	struct worlds *worlds; /* NULL: loaded */
	const struct symbolizer_options *naming;
	struct compared compared;
	uint64_t reported_ns; /* of the measurement: what intervals before this one took */
	struct outputs outputs;
	struct watch *watch;   /* NULL: nobody does */
	struct run_live *live; /* NULL: nobody watches from elsewhere */
	bool reported;	       /* a report went out before: the next one is told apart */
	pthread_t preparer;    /* reads the kernel's symbols beside the sampling */
	bool preparing;
	time_t told; /* of progress, when */
};

static bool is_text(const struct output *output)
{
	return output->writer == writers[0];
}

static bool is_stdout(const struct output *output)
{
	return strcmp(output->path, "standard output") == 0;
}

/* ---- reporting ---- */

/* What stands before the entries: the title (where it is not there yet), a blank line, the time. */
static void write_head(const struct measured *measured, struct output *output, bool titled)
{
	const struct run_request *request = measured->request;
	time_t now = time(NULL);
	char clock[16];

	if (output->writer && output->writer->whole)
		return;
	if (is_text(output)) {
		if (!titled && (!measured->reported || output->each))
			fprintf(output->stream, "%s\n", measured->meta.title);
		fputc('\n', output->stream);
	} else if (measured->reported && !output->each && output->writer && !request->timestamp) {
		fputc('\n', output->stream);
	}
	if (request->timestamp && output->writer) {
		strftime(clock, sizeof(clock), "%H:%M:%S", localtime(&now));
		fprintf(output->stream, "%-8s\n", clock);
	}
}

/* The profile in the writer's view, and the base if there is one. */
static int write_profile(struct measured *measured, struct output *output, bool titled,
			 struct error *err)
{
	const struct report_options *options = &measured->request->report;
	const struct compared *compared = &measured->compared;
	uint32_t view = output->writer->view(options);
	struct profile profile = { 0 }, base = { 0 };
	int r = profile_build(measured->tally, measured->names, &measured->meta, view, &profile);

	if (r == 0 && compared->meta)
		r = profile_build(compared->tally, compared->names, compared->meta, view, &base);
	if (r == 0 && compared->base)
		r = profile_recognize(&base, &profile);
	if (r == 0) {
		profile.base = compared->meta ? &base : NULL;
		write_head(measured, output, titled);
		r = output->writer->write(&profile, options, output->stream, err);
	} else {
		error_set(err, r, "cannot build the report: %s", strerror(-r));
	}
	profile_clear(&profile);
	profile_clear(&base);
	return r;
}

static int write_one(struct measured *measured, struct output *output, bool titled,
		     struct error *err)
{
	int r = output_begin(output, err);

	if (r < 0)
		return r;
	if (output->writer)
		r = write_profile(measured, output, titled, err);
	else
		r = recording_save(output->stream, &measured->meta, measured->tally,
				   measured->names, err);
	return r < 0 ? r : output_flush(output, err);
}

static void warn(const struct profile *profile)
{
	char line[WARNINGS_LINE_SIZE];

	for (int i = 0; warnings_line(profile, i, line); i++)
		message_line("%s", line);
}

/* How user stacks ended, and where those that are not complete did. */
static void tell_ends(const struct measured *measured)
{
	struct ends ends;

	if (!message_is_verbose() || ends_of(measured->tally, measured->names, &ends) < 0 ||
	    ends.samples == 0)
		return;
	message_verbose("user stacks: %" PRIu64 ", %.2f %% complete; in %" PRIu64
			" a register was taken to be unchanged by a function called",
			ends.samples, 100.0 * (double)ends.complete / (double)ends.samples,
			ends.assumed);
	for (uint32_t i = 0; i < ends.n_top; i++) {
		const struct ends_place *place = &ends.top[i];

		message_verbose("  %8" PRIu64 " ended for: %s, in %s of %s", place->count,
				tally_end_name(place->end),
				place->function ? place->function : "[unknown]",
				place->module ? place->module : "[unknown]");
	}
}

static int warn_and_close(struct measured *measured, struct error *err)
{
	const struct tally_losses *losses = tally_losses_of(measured->tally);
	uint64_t lost = losses->lost_ring + losses->lost_counts + losses->lost_nested;
	struct profile profile = { 0 };
	int r = profile_build(measured->tally, measured->names, &measured->meta,
			      PROFILE_VIEW_PROCESS | PROFILE_VIEW_ADDRESS, &profile);

	if (r < 0)
		return error_set(err, r, "cannot build the report: %s", strerror(-r));
	warn(&profile);
	message_verbose("lost: %" PRIu64 " for want of room in the ring, %" PRIu64
			" in the table of counts, %" PRIu64 " nested; %" PRIu64
			" events in all, throttled %" PRIu64 " times",
			losses->lost_ring, losses->lost_counts, losses->lost_nested, losses->events,
			losses->throttled);
	tell_ends(measured);
	message_note("%" PRIu64 " samples, %u stacks, %" PRIu64 " lost", profile.total,
		     profile.n_entries, lost);
	profile_clear(&profile);
	return 0;
}

static int report(struct measured *measured, bool titled, struct error *err)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < measured->outputs.n; i++) {
		struct output *output = &measured->outputs.list[i];

		r = write_one(measured, output, titled && is_stdout(output), err);
	}
	measured->reported = true;
	return r < 0 ? r : warn_and_close(measured, err);
}

static int finish_outputs(struct measured *measured, struct error *err)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < measured->outputs.n; i++) {
		struct output *output = &measured->outputs.list[i];

		if (measured->request->farewell && is_text(output) && output->stream)
			fprintf(output->stream, "%s\n", measured->request->farewell);
		r = output_finish(output, err);
	}
	return r;
}

/* ---- measuring ---- */

static void *prepare(void *symbolizer)
{
	symbolizer_prepare(symbolizer);
	return NULL;
}

/* The kernel's symbols take tens of ms to read: not while the user waits for the report. */
static void begin_preparing(struct measured *measured, struct symbolizer *symbolizer)
{
	measured->preparing = measured->request->plan->kernel &&
			      pthread_create(&measured->preparer, NULL, prepare, symbolizer) == 0;
}

static void end_preparing(struct measured *measured)
{
	if (measured->preparing)
		pthread_join(measured->preparer, NULL);
	measured->preparing = false;
}

/* The title goes to stdout as soon as events count, not only with the report. */
static int announce(struct measured *measured, struct error *err)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < measured->outputs.n; i++) {
		struct output *output = &measured->outputs.list[i];

		if (!is_text(output) || !is_stdout(output) || measured->watch)
			continue;
		fprintf(output->stream, "%s\n", measured->meta.title);
		r = output_flush(output, err);
	}
	return r;
}

/* A line each second for somebody who waits for the report at a terminal. */
static void tell_progress(void *context, uint32_t done, uint32_t total)
{
	struct measured *measured = context;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (done == 0 || measured->told == 0)
		measured->told = now.tv_sec;
	if (now.tv_sec - measured->told < 1 || !isatty(STDERR_FILENO))
		return;
	measured->told = now.tv_sec;
	message_note("looking up names: %u of %u files", done, total);
}

static int name_cgroups(struct measured *measured)
{
	const struct tally_entry *entries = tally_entries(measured->tally);
	uint64_t last = 0;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < tally_n_entries(measured->tally); i++) {
		uint64_t id = entries[i].cgroup;
		const char *path = id && id != last ? worlds_cgroup(measured->worlds, id) : NULL;

		last = id;
		if (path)
			r = names_add_cgroup(measured->names, id, path);
	}
	return r;
}

/* Names all that the tally has; then it can be shown. */
static int name_all(struct measured *measured, struct session *session,
		    struct symbolizer *symbolizer, struct error *err)
{
	int r;

	end_preparing(measured);
	measured->meta.duration_ns = session_duration(session) - measured->reported_ns;
	r = symbolizer_resolve(symbolizer, measured->tally, measured->names, err);
	if (r == 0 && name_cgroups(measured) < 0)
		r = error_set(err, -ENOMEM, "out of memory");
	if (r == 0 && measured->watch)
		r = watch_look(measured->watch, measured->tally, measured->names, &measured->meta,
			       err);
	return r;
}

/* While it runs: for whoever watches. */
static int look(struct measured *measured, struct session *session, struct symbolizer *symbolizer,
		struct error *err)
{
	const struct tally_losses *losses = tally_losses_of(measured->tally);

	if (measured->watch)
		return watch_is_due(measured->watch) ? name_all(measured, session, symbolizer, err)
						     : 0;
	if (measured->request->plan->progress)
		message_progress("%.0f s, %" PRIu64 " samples, %" PRIu64 " lost",
				 (double)session_duration(session) / 1e9,
				 tally_total(measured->tally),
				 losses->lost_ring + losses->lost_counts + losses->lost_nested);
	return 0;
}

static int measure(struct measured *measured, struct session *session,
		   struct symbolizer *symbolizer, struct error *err)
{
	enum session_event event = SESSION_INTERVAL;

	while (event == SESSION_INTERVAL || event == SESSION_TICK) {
		int r = session_run(session, measured->tally, &event, err);

		if (r == 0)
			r = run_live_look(measured->live, measured->tally, event != SESSION_TICK,
					  err);
		if (r == 0 && event == SESSION_TICK) {
			r = look(measured, session, symbolizer, err);
			if (r < 0)
				return r;
			continue;
		}
		if (measured->request->plan->progress)
			message_progress("%s", "");
		if (r == 0)
			r = name_all(measured, session, symbolizer, err);
		/* Who has interrupted it has seen enough. */
		if (r == 0 && measured->watch && event != SESSION_INTERVAL)
			watch_end(measured->watch, event == SESSION_ENDED);
		if (r == 0)
			r = report(measured, !measured->watch, err);
		if (r < 0)
			return r;
		tally_clear(measured->tally);
		measured->meta.start_time_ns += measured->meta.duration_ns;
		measured->reported_ns += measured->meta.duration_ns;
	}
	return 0;
}

static int begin_watch(struct measured *measured, struct error *err)
{
	const struct profile_meta *meta = &measured->meta;
	char title[128];

	if (!measured->watch)
		return 0;
	if (meta->frequency)
		snprintf(title, sizeof(title), "%s %s %" PRIu64 " Hz", meta->command,
			 meta->event ? meta->event : "", meta->frequency);
	else
		snprintf(title, sizeof(title), "%s %s", meta->command,
			 meta->event ? meta->event : "");
	return watch_begin(measured->watch, title, err);
}

static int start_and_measure(struct measured *measured, struct trigger *trigger,
			     struct session *session, struct symbolizer *symbolizer,
			     struct error *err)
{
	const struct run_request *request = measured->request;
	own(own_run_live_close) struct run_live *live = NULL;
	struct timespec now;
	char title[512];
	int r = run_live_open(request, &live, err);

	if (r == 0)
		r = session_start(session, err);
	if (r < 0)
		return r;
	clock_gettime(CLOCK_REALTIME, &now);
	measured->meta.start_time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	measured->meta.event = trigger->event;
	measured->meta.title = title;
	request->title(request->options, trigger->ops->n_attached(trigger), title, sizeof(title));
	if (request->attached)
		request->attached(request->options, trigger);
	r = announce(measured, err);
	measured->live = live;
	if (r == 0 && live)
		r = run_live_start(live, &measured->meta, measured->worlds, measured->naming,
				   session, err);
	if (r == 0)
		r = begin_watch(measured, err);
	if (r == 0)
		r = session_launch(session, err);
	if (r < 0)
		return r;
	begin_preparing(measured, symbolizer);
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

/* What unwinding took. */
static void tell_tables(const struct session *session)
{
	struct unwinder_stats is;

	if (!message_is_verbose() || !session_unwinding(session, &is))
		return;
	message_verbose("unwinding: %u tables of %u files, %" PRIu64 " rows, %u rules, %.1f MB of "
			"%.0f; %" PRIu64 " compiled in %.0f ms, %" PRIu64 " from disk in %.0f ms; "
			"%u pending, %u without CFI, %u broken, %u evicted",
			is.tables.ready, is.tables.tables, is.tables.rows, is.tables.rules,
			(double)is.tables.bytes / 1e6, (double)is.tables.bytes_limit / 1e6,
			is.tables.compiled, (double)is.tables.compile_ns / 1e6, is.tables.cached,
			(double)is.tables.cached_ns / 1e6, is.tables.pending, is.tables.no_cfi,
			is.tables.broken, is.tables.evicted);
	message_verbose("unwinding: %u processes; %" PRIu64 " stacks were finished in user space, "
			"%" PRIu64 " of them completed",
			is.tables.processes, is.waited, is.finished);
}

static int open_and_measure(struct measured *measured, struct trigger *trigger, int *ret_status,
			    struct error *err)
{
	const struct plan *plan = measured->request->plan;
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
	own(own_worlds_free) struct worlds *worlds = NULL;
	own(own_symbolizer_free) struct symbolizer *symbolizer = NULL;
	own(own_session_close) struct session *session = NULL;
	int r = worlds_new(&(struct worlds_options){ 0 }, &worlds);

	measured->worlds = worlds;
	measured->naming = &options;
	if (r == 0)
		r = symbolizer_new(worlds, &options, &symbolizer);
	if (r == 0 && plan->tui)
		r = watch_new(&measured->request->report, &watch);
	if (r < 0)
		return error_set(err, r, "out of memory");
	measured->watch = watch;
	if (watch && plan->command)
		r = watch_shield(watch, err);
	if (r == 0)
		r = session_open(plan, trigger, worlds, &session, err);
	if (watch)
		watch_unshield(watch);
	if (r < 0)
		return r;
	if (session_warning(session))
		message_line("%s", session_warning(session));
	r = start_and_measure(measured, trigger, session, symbolizer, err);
	tell_tables(session);
	if (r == 0)
		r = finish_outputs(measured, err);
	if (r == 0)
		*ret_status = session_command_status(session);
	return r;
}

static int measure_and_report(const struct run_request *request, struct trigger *trigger,
			      int *ret_status, struct error *err)
{
	const struct plan *plan = request->plan;
	struct measured measured = { .request = request, .meta = request->meta };
	own(own_tally_free) struct tally *tally = NULL;
	own(own_names_free) struct names *names = NULL;
	own(outputs_close) struct outputs outputs = { 0 };
	own(compared_clear) struct compared compared = { 0 };
	struct utsname system;
	int r = tally_new(plan->hash_storage, plan->stack_storage, &tally);

	if (r == 0)
		r = names_new(&names);
	if (r < 0)
		return error_set(err, r, "out of memory");
	r = compared_load(plan->diff, &compared, err);
	if (r == 0)
		r = outputs_open(plan, plan->interval > 0, &outputs, err);
	if (r < 0)
		return r;
	if (uname(&system) == 0) {
		measured.meta.hostname = system.nodename;
		measured.meta.kernel_release = system.release;
	}
	measured.tally = tally;
	measured.names = names;
	measured.compared = compared;
	measured.outputs = outputs;
	return open_and_measure(&measured, trigger, ret_status, err);
}

int run(const struct run_request *request, struct trigger *trigger)
{
	own(own_trigger_free) struct trigger *owned = trigger;
	struct error err = { 0 };
	int status = -1;

	session_set_log(message_libbpf);
	if (measure_and_report(request, owned, &status, &err) < 0)
		return message_error(request->program, &err);
	return status < 0 ? EXIT_CLASS_OK : status;
}

/* ---- from a recording ---- */

static int browse(struct measured *measured, struct watch **watch, struct error *err)
{
	int r = watch_new(&measured->request->report, watch);

	if (r < 0)
		return error_set(err, r, "out of memory");
	measured->watch = *watch;
	r = begin_watch(measured, err);
	if (r == 0)
		r = watch_look(*watch, measured->tally, measured->names, &measured->meta, err);
	if (r == 0)
		watch_end(*watch, true);
	return r;
}

static int report_recording(const struct run_request *request, const char *path, struct error *err)
{
	own(own_recording_free) struct recording *recording = NULL;
	own(outputs_close) struct outputs outputs = { 0 };
	own(compared_clear) struct compared compared = { 0 };
	own(own_watch_free) struct watch *watch = NULL;
	struct measured measured = { .request = request };
	/* Nobody may be writing to what turns out to be a FIFO. */
	own(own_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int r;

	if (fd < 0)
		return error_set(err, -errno, "cannot read %s: %s", path, strerror(errno));
	r = recording_load(fd, path, &recording, err);
	if (r == 0)
		r = compared_load(request->plan->diff, &compared, err);
	if (r == 0)
		r = outputs_open(request->plan, false, &outputs, err);
	if (r < 0)
		return r;
	measured.meta = recording->meta;
	measured.tally = recording->tally;
	measured.names = recording->names;
	measured.compared = compared;
	measured.outputs = outputs;
	if (request->plan->live)
		r = run_live_serve(request, recording, err);
	if (r == 0 && request->plan->tui)
		r = browse(&measured, &watch, err);
	if (r == 0)
		r = report(&measured, false, err);
	return r < 0 ? r : finish_outputs(&measured, err);
}

int run_from(const struct run_request *request, const char *path)
{
	struct error err = { 0 };

	if (report_recording(request, path, &err) < 0)
		return message_error(request->program, &err);
	return EXIT_CLASS_OK;
}
