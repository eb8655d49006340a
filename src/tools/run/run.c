// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/run.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"
#include "base/seccomp.h"
#include "base/thread.h"
#include "cli/message.h"
#include "run/delays.h"
#include "run/dump.h"
#include "run/memory.h"
#include "run/process_names.h"
#include "run/run_notes.h"
#include "run/sinks.h"
#include "symbolize/sources.h"
#include "tally/scripts.h"
#include "view/caption.h"
#include "view/quantity.h"

/* Allocations of this many bytes are mapped; glibc's own threshold grows up to 32 MB. */
#define MMAP_THRESHOLD (128 << 10)
/* With intervals, names are forgotten at twice the addresses of one interval plus this many. */
#define SPARE_ADDRESSES 16384u

DEFINE_OWN(struct images, images_free)
DEFINE_OWN(struct tally, tally_free)
DEFINE_OWN(struct names, names_free)
DEFINE_OWN(struct symbolizer, symbolizer_free)
DEFINE_OWN(struct trigger, trigger_free)

struct run_state {
	struct run_report report; /* of tally and names */
	struct tally *tally;
	struct names *names;
	struct sinks sinks;
	struct sink_source source; /* what the sinks see of this */
	char title[512];
	uint64_t reported_ns; /* duration of the intervals reported so far */
	pthread_t preparer;   /* runs symbolizer_prepare() during the measurement */
	bool preparing;
	uint64_t progress_ns; /* when the next progress note is due; 0: not known yet */
	uint32_t usual;	      /* addresses of an interval; 0: not known yet */
	struct delays delays;
	struct dump dump;
};

static void *prepare(void *symbolizer)
{
	symbolizer_prepare(symbolizer);
	return NULL;
}

/*
 * Kernels from 5.16 on name addresses one at a time. Others list all symbols, which takes tens of
 * ms: a thread reads that list meanwhile. If it cannot be started, it is read for the report.
 */
static void begin_preparing(struct run_state *state, struct session *session,
			    struct symbolizer *symbolizer)
{
	struct kernel_lookup lookup;

	if (session_kernel_lookup(session, &lookup) &&
	    symbolizer_ask_kernel(symbolizer, &lookup) == 0)
		return;
	state->preparing = state->report.request->plan->kernel &&
			   thread_start(&state->preparer, prepare, symbolizer) == 0;
}

static void end_preparing(struct run_state *state)
{
	if (state->preparing)
		pthread_join(state->preparer, NULL);
	state->preparing = false;
}

/* Once names take longer than a second, a note each second, or each ten where they would fill a
 * log. */
static void note_progress(void *context, uint32_t done, uint32_t total)
{
	struct run_state *state = context;
	uint64_t now = monotonic_ns();

	if (state->progress_ns == 0)
		state->progress_ns = now + NS_PER_SECOND;
	if (now < state->progress_ns)
		return;
	state->progress_ns = now + (isatty(STDERR_FILENO) ? 1 : 10) * NS_PER_SECOND;
	message_note("looking up names: %u of %u files done", done, total);
}

static int name_cgroups(struct run_state *state)
{
	const struct tally_entry *entries = tally_entries(state->tally);
	uint64_t last = 0;

	for (uint32_t i = 0; i < tally_n_entries(state->tally); i++) {
		uint64_t id = entries[i].cgroup;
		const struct names_cgroup *cgroup;

		if (!id || id == last)
			continue;
		last = id;
		/* Files of its container may have begun to respond since its first stack. */
		if (images_learn_cgroup(state->source.images, id) < 0)
			return -ENOMEM;
		cgroup = images_cgroup(state->source.images, id);
		if (cgroup && names_add_cgroup(state->names, cgroup) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Adds names for everything in the tally, and the facts so far; then it can be shown. */
static int name_all(struct run_state *state, struct session *session, struct symbolizer *symbolizer,
		    enum session_event event, struct error *err)
{
	int r;

	end_preparing(state);
	state->progress_ns = 0;
	state->report.meta.duration_ns = session_duration(session) - state->reported_ns;
	state->report.own_events = session_own_events(session);
	state->report.unmet = session_unmet(session);
	run_notes_of_tables(session, &state->report.meta.unwinding);
	r = symbolizer_resolve(symbolizer, state->tally, state->names, err);
	if (r < 0)
		return r;
	if (name_cgroups(state) < 0 || process_names_add(state->tally, state->names) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	return sinks_show(&state->sinks, event, err);
}

/* At a tick: shows what there is so far. */
static int update(struct run_state *state, struct session *session, struct symbolizer *symbolizer,
		  struct error *err)
{
	const struct tally_losses *losses = tally_losses_of(state->tally);
	char total[QUANTITY_SIZE];

	if (sinks_want_names(&state->sinks))
		return name_all(state, session, symbolizer, SESSION_TICK, err);
	quantity_text(&state->report.meta, tally_total(state->tally), total);
	if (state->report.request->plan->progress)
		message_progress("%.0f s, %s, %" PRIu64 " lost",
				 (double)session_duration(session) / 1e9, total,
				 tally_lost(losses));
	return 0;
}

/*
 * Names are kept from one interval to the next, unless addresses of processes that are gone have
 * accumulated, or a reload is asked for, after which symbols are read that were installed since:
 * then all are forgotten.
 */
static int forget(struct run_state *state, struct session *session, struct symbolizer *symbolizer,
		  bool reload, struct error *err)
{
	uint32_t n = tally_n_addresses(state->tally);
	int r;

	if (sinks_are_cumulative(&state->sinks))
		return 0;
	images_lock(state->source.images);
	images_release_files(state->source.images);
	images_reported_jit(state->source.images);
	images_unlock(state->source.images);
	if (!state->usual)
		state->usual = n;
	if (!reload && n <= 2 * (uint64_t)state->usual + SPARE_ADDRESSES)
		return 0;
	state->usual = 0;
	r = session_forget(session, state->tally, err);
	if (r < 0)
		return r;
	r = names_clear(state->names);
	if (r == 0)
		r = symbolizer_forget(symbolizer);
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

/* At the end of an interval or of the measurement: writes the report and empties the tally. */
static int report(struct run_state *state, struct session *session, struct symbolizer *symbolizer,
		  enum session_event event, struct error *err)
{
	int r;

	if (state->report.request->plan->progress)
		message_progress("%s", "");
	r = name_all(state, session, symbolizer, event, err);
	state->delays.named = monotonic_ns();
	if (r == 0 && state->report.request->plan->dump &&
	    dump_make(&state->dump, &state->report) < 0)
		r = error_set(err, -ENOMEM, "out of memory");
	if (r == 0)
		r = sinks_report(&state->sinks, err);
	if (r < 0)
		return r;
	if (!session_goes_on(event)) {
		state->delays.written = monotonic_ns();
		return 0;
	}
	tally_clear(state->tally);
	r = forget(state, session, symbolizer, event == SESSION_RELOAD, err);
	if (r < 0)
		return r;
	state->report.meta.start_time_ns += state->report.meta.duration_ns;
	state->reported_ns += state->report.meta.duration_ns;
	return 0;
}

static int measure(struct run_state *state, struct session *session, struct symbolizer *symbolizer,
		   struct error *err)
{
	enum session_event event = SESSION_INTERVAL;

	while (session_goes_on(event)) {
		int r = session_run(session, state->tally, &event, err);

		state->delays.counted = monotonic_ns();
		if (r == 0 && state->report.request->plan->dump && !session_goes_on(event)) {
			r = dump_look(&state->dump, session);
			if (r == -EAGAIN)
				return error_set(err, r, "a thread did not sleep");
			if (r < 0)
				return error_set(err, r, "out of memory");
		}
		if (r == 0)
			r = sinks_slice(&state->sinks, event, err);
		if (r < 0)
			return r;
		if (event == SESSION_SLICE)
			continue;
		if (event != SESSION_TICK) {
			images_lock(state->source.images);
			images_rest(state->source.images);
			images_unlock(state->source.images);
		}
		r = sinks_back(&state->sinks, event, err);
		if (r < 0)
			return r;
		r = event == SESSION_TICK ? update(state, session, symbolizer, err)
					  : report(state, session, symbolizer, event, err);
		if (r == 0)
			r = sinks_done(&state->sinks, event, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Once the trigger is attached: sets the facts of the reports, and begins them. */
static int announce(struct run_state *state, const struct trigger *trigger, struct error *err)
{
	const struct run_request *request = state->report.request;
	int r;

	state->report.meta.start_time_ns = clock_ns(CLOCK_REALTIME);
	state->report.meta.event = trigger->event;
	if (trigger->unit)
		state->report.meta.unit = trigger->unit;
	state->report.instead = trigger->instead;
	state->report.meta.title = state->title;
	request->title(request->options, trigger->ops->n_attached(trigger), state->title,
		       sizeof(state->title));
	if (request->attached)
		request->attached(trigger);
	delays_tell_begin(request->began);
	r = run_report_compare(&state->report, err);
	if (r == 0)
		r = sinks_announce(&state->sinks, err);
	caption_end_title(state->title);
	return r;
}

static void note_missing_inlines(const struct symbolizer *symbolizer)
{
	const char *file;
	uint32_t n = symbolizer_n_missing_inlines(symbolizer, &file);

	if (n)
		message_note("debug information of %u compilation unit%s is in .dwo or .dwp files "
			     "that cannot be read, such as %.200s: their inlined functions are "
			     "missing",
			     n, n > 1 ? "s" : "", file);
}

static void note_refused_names(const struct symbolizer *symbolizer)
{
	const struct sources_refused *refused = symbolizer_refused(symbolizer);
	const char *others = refused->n > 1 ? " and others" : "";

	if (refused->n)
		message_note(
			"generated code has no names: %s%s in /tmp belongs to uid %u, and only "
			"the user of its process, and root, may name its code",
			refused->name, others, refused->owner);
}

static void note_unread_names(const struct symbolizer *symbolizer)
{
	struct confined_losses losses = symbolizer_losses(symbolizer);
	char owner[32] = "several users";

	if (losses.owner != CONFINED_ANYBODY)
		snprintf(owner, sizeof(owner), "uid %u", losses.owner);
	if (losses.refused)
		message_note("names are missing: %u files were not read completely, because the "
			     "time for files of one owner, mostly %s, was used up",
			     losses.refused, owner);
	if (losses.unconfined)
		message_note("names and callers are missing: files are read by a process that "
			     "gives up its rights first, and that failed (%s)%s",
			     strerror(losses.unconfined),
			     seccomp_is_filtered()
				     ? ": a seccomp filter denies it (Seccomp: 2 in "
				       "/proc/self/status); it takes setrlimit and prlimit64, "
				       "setresuid, capset, prctl and seccomp"
				     : "");
	if (losses.crashed)
		message_note("names are missing: %u files, mostly of %s, are damaged so that "
			     "reading them failed",
			     losses.crashed, owner);
}

static int start_and_measure(struct run_state *state, struct trigger *trigger,
			     struct session *session, struct symbolizer *symbolizer,
			     struct error *err)
{
	char targets[512];
	int r = session_start(session, err);

	if (r == 0)
		r = announce(state, trigger, err);
	if (r == 0)
		r = sinks_begin(&state->sinks, &state->source, err);
	if (r == 0)
		r = session_launch(session, err);
	if (r == 0)
		r = sinks_launched(&state->sinks, err);
	if (r < 0)
		return r;
	begin_preparing(state, session, symbolizer);
	r = measure(state, session, symbolizer, err);
	session_ended(session, &state->delays.due, &state->delays.stopped);
	end_preparing(state);
	if (r < 0)
		return r;
	if (session_describe_targets(session, targets, sizeof(targets)))
		message_note("%s", targets);
	if (symbolizer_kernel_advice(symbolizer))
		message_note("%s", symbolizer_kernel_advice(symbolizer));
	if (symbolizer_n_broken_inlines(symbolizer))
		message_note("debug information of %u files was not read completely: inlined "
			     "functions and lines may be missing",
			     symbolizer_n_broken_inlines(symbolizer));
	note_missing_inlines(symbolizer);
	note_refused_names(symbolizer);
	note_unread_names(symbolizer);
	return 0;
}

static void own_session_close(struct session **session)
{
	uint32_t limit = session_close(*session);

	if (limit)
		message_line("WARNING: kernel.perf_event_max_stack stays raised, because "
			     "another profiler walks stacks; reset it with: "
			     "sysctl kernel.perf_event_max_stack=%u",
			     limit);
}

/* The report is there, and the command may go on: its end and status are waited for. */
static void await_command(struct run_state *state, struct session *session, int *ret_status)
{
	uint64_t from = monotonic_ns();

	if (session_command_runs(session))
		message_note("the command goes on; waiting for its end");
	*ret_status = session_command_status(session);
	state->delays.awaited_ns = monotonic_ns() - from;
}

static int open_and_measure(struct run_state *state, struct trigger *trigger, int *ret_status,
			    struct error *err)
{
	const struct plan *plan = state->report.request->plan;
	struct symbolizer_options options = {
		.symfs = getenv("BCC_SYMFS"),
		.debuginfo_root = getenv("BCC_DEBUGINFO_ROOT"),
		.debuginfod = getenv("DEBUGINFOD_URLS") && *getenv("DEBUGINFOD_URLS"),
		.inlines = plan->inlines,
		.lines = plan->lines,
		.file_addresses = plan->push.no_names,
		.patient = plan->filter.tgids.n || plan->filter.tids.n || plan->command,
		.progress = note_progress,
		.progress_context = state,
	};
	own(own_scripts_free) struct scripts *scripts = NULL;
	own(own_images_free) struct images *images = NULL;
	own(own_symbolizer_free) struct symbolizer *symbolizer = NULL;
	own(own_session_close) struct session *session = NULL;
	int r;

	if (scripts_new(&scripts) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	options.scripts = scripts;
	if (images_new(&(struct images_options){ 0 }, &images) < 0 ||
	    symbolizer_new(images, &options, &symbolizer) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	r = session_open(plan, trigger, images, symbolizer_kernel(symbolizer), scripts, &session,
			 err);
	if (r == 0)
		r = sinks_loaded(&state->sinks, err);
	if (r < 0)
		return r;
	if (session_warning(session))
		message_line("%s", session_warning(session));
	state->report.others = session_others(session);
	state->source.session = session;
	state->source.images = images;
	state->source.naming = &options;
	r = start_and_measure(state, trigger, session, symbolizer, err);
	sinks_end(&state->sinks);
	state->report.others = NULL;
	run_notes_of_unwinding(session);
	run_notes_of_images(images);
	if (r < 0)
		return r;
	run_notes_of_interpreters(session);
	r = sinks_finish(&state->sinks, err);
	if (r < 0)
		return r;
	await_command(state, session, ret_status);
	if (state->report.grew && *ret_status <= 0)
		*ret_status = EXIT_CLASS_MORE;
	return 0;
}

/* Readers of files are what the kernel kills first, and what they were about to read has no names.
 */
static void tell_kills(uint64_t before)
{
	uint64_t kills = memory_kills() - before;

	if (kills)
		message_line("WARNING: the kernel has killed processes of this control group for "
			     "want of memory (%" PRIu64 "): names may be missing. Consider "
			     "a lower --memory.",
			     kills);
}

/* The sinks may change the plan. */
static int measure_and_report(const struct run_request *request, struct plan *plan,
			      struct trigger *trigger, int *ret_status, struct error *err)
{
	own(own_tally_free) struct tally *tally = NULL;
	own(own_names_free) struct names *names = NULL;
	struct run_state state = { .report = { .request = request, .meta = request->meta } };
	uint64_t kills = memory_kills();
	struct utsname system;
	int r;

	if (tally_new(plan->hash_storage, plan->stack_storage, &tally) < 0 || names_new(&names) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	tally_bound(tally, plan->memory ? plan->memory : memory_default());
	if (uname(&system) == 0) {
		state.report.meta.hostname = system.nodename;
		state.report.meta.kernel_release = system.release;
	}
	state.report.tally = state.tally = tally;
	state.report.names = state.names = names;
	state.source.report = &state.report;
	r = sinks_open(&state.sinks, &state.source, plan, err);
	state.delays.launched = plan->command != NULL;
	if (r == 0)
		r = open_and_measure(&state, trigger, ret_status, err);
	/* Whoever draws on the terminal stays there for as long as the user likes. */
	if (r == 0 && !sinks_take_terminal(&state.sinks))
		delays_tell_end(&state.delays);
	tell_kills(kills);
	sinks_close(&state.sinks);
	dump_clear(&state.dump);
	return r;
}

int run(const struct run_request *request, struct trigger *trigger)
{
	own(own_trigger_free) struct trigger *owned = trigger;
	struct plan plan = *request->plan;
	struct run_request planned = *request;
	struct error err = { 0 };
	int status = -1, r;

	/* Memory in which unwinding tables are compiled goes back to the kernel when freed. */
	mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
	session_set_log(message_libbpf);
	planned.plan = &plan;
	r = measure_and_report(&planned, &plan, owned, &status, &err);
	if (r == -EAGAIN && plan.dump && !plan.dump_runs) {
		plan.dump_runs = true;
		r = measure_and_report(&planned, &plan, owned, &status, &err);
	}
	if (r < 0)
		return message_error(request->program, &err);
	return status < 0 ? EXIT_CLASS_OK : status;
}
