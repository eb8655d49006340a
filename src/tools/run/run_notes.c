// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/run_notes.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/own.h"
#include "cli/message.h"
#include "drain/unwinder.h"
#include "kernel/capability.h"
#include "run/empty.h"
#include "run/next_steps.h"
#include "run/process_names.h"
#include "tally/comms.h"
#include "tally/scripts.h"
#include "view/advice.h"
#include "view/quantity.h"
#include "view/summary.h"
#include "view/unnamed.h"
#include "view/warnings.h"

/* The reports go to an engine, or are kept: warnings only. */
static bool is_quiet(const struct run_report *report)
{
	const struct plan *plan = report->request->plan;

	return (plan->push.url || plan->keep > 0) && !report->outputs.n;
}

static void warn(const struct run_report *report, uint64_t missed_sides)
{
	const struct tally_losses *losses = tally_losses_of(report->tally);
	char line[WARNINGS_LINE_SIZE];

	for (int i = 0; warnings_line(&report->meta, losses, missed_sides, i, line); i++) {
		if (strncmp(line, "WARNING", strlen("WARNING")) == 0)
			message_line("%s", line);
		else if (!is_quiet(report))
			message_note("%s", line);
	}
}

/* Why files could not be opened, as far as it can be told. */
static const char *why_not_opened(const struct run_report *report)
{
	if (!report->saved && !capability_to_find_files())
		return "those of other users' processes take CAP_SYS_PTRACE";
	if (!report->saved && !capability_to_read_files())
		return "their processes had ended and none that runs leads to them, their file "
		       "system did not respond, or only their owners may read them, which takes "
		       "CAP_DAC_READ_SEARCH";
	return "their processes had ended and none that runs leads to them, or their file system "
	       "did not respond";
}

/* Stacks that lack their callers for want of a file: one in a hundred is worth a warning. */
static void warn_not_opened(const struct run_report *report, const struct ends *ends)
{
	uint64_t cut = ends->by_end[TALLY_END_NOT_OPENED];
	const char *module = NULL;

	if (cut == 0 || cut < ends->samples / 100)
		return;
	for (uint32_t i = 0; i < ends->n_top && !module; i++)
		if (ends->top[i].end == TALLY_END_NOT_OPENED)
			module = ends->top[i].module;
	message_line("WARNING: %.3g %% of the user stacks lack their callers, because files could "
		     "not be opened, mostly %s: %s",
		     100.0 * (double)cut / (double)ends->samples, module ? module : "[unknown]",
		     why_not_opened(report));
}

static void tell_ends(const struct profile_meta *meta, const struct ends *ends)
{
	uint64_t samples = quantity_event_number(meta, ends->samples);
	char assumed[100] = "";

	if (!message_is_verbose() || ends->samples == 0)
		return;
	if (ends->assumed)
		snprintf(assumed, sizeof(assumed),
			 "; in %" PRIu64 " a register was assumed to be unchanged by a callee",
			 quantity_event_number(meta, ends->assumed));
	message_verbose("user stacks: %" PRIu64 ", %.2f %% complete%s", samples,
			100.0 * (double)ends->complete / (double)ends->samples, assumed);
	for (uint32_t i = 0; i < ends->n_top; i++) {
		const struct ends_place *place = &ends->top[i];

		message_verbose("  %8" PRIu64 " ended for: %s, in %s of %s",
				quantity_event_number(meta, place->count),
				tally_end_name(place->end),
				place->function ? place->function : "[unknown]",
				place->module ? place->module : "[unknown]");
	}
}

static void tell_programs(const struct profile_meta *meta, const struct ends *ends)
{
	if (!message_is_verbose() || ends->programs == 0)
		return;
	message_verbose("interpreted programs: %" PRIu64 " stacks",
			quantity_event_number(meta, ends->programs));
	for (uint32_t i = 0; i < SCRIPT_N_REASONS; i++)
		if (ends->by_reason[i])
			message_verbose("  %8" PRIu64 " with an evaluator's frame that stays: %s",
					quantity_event_number(meta, ends->by_reason[i]),
					script_reason_name(i));
}

/* If nearly all events were walked, "1 in 1.0" would say nothing. */
static void tell_estimate(const struct tally_losses *losses)
{
	double in;

	if (!losses->unwalked || !losses->events)
		return;
	in = (double)losses->unwalked / (double)losses->events + 1;
	if (in < 1.05)
		message_note("estimate: %" PRIu64 " of %" PRIu64 " switches were not walked, and "
			     "the others count for them, to stay within --budget; --budget 100 "
			     "walks all",
			     losses->unwalked, losses->unwalked + losses->events);
	else
		message_note("estimate: 1 switch in %.*f was walked, and counts for the others, to "
			     "stay within --budget; --budget 100 walks all",
			     in < 100, in);
}

static void tell_losses(const struct tally_losses *losses)
{
	char throttled[64] = "";

	if (losses->throttled)
		snprintf(throttled, sizeof(throttled), "; throttled %" PRIu64 " times",
			 losses->throttled);
	if (losses->lost_ends)
		message_verbose("%" PRIu64
				" returns to a CPU were not seen; when they were is known "
				"by the scheduler's count of each thread's time on CPUs",
				losses->lost_ends);
	tell_estimate(losses);
	if (losses->unallocated)
		message_note("%" PRIu64 " block%s freed that %s not seen to be allocated: before "
			     "the measurement, by another function, or in the parent of a forked "
			     "child",
			     losses->unallocated, losses->unallocated == 1 ? " was" : "s were",
			     losses->unallocated == 1 ? "was" : "were");
	if (losses->replaced_blocks)
		message_note("%" PRIu64 " block%s allocated again before %s seen to be freed: the "
			     "last allocation counts",
			     losses->replaced_blocks,
			     losses->replaced_blocks == 1 ? " was" : "s were",
			     losses->replaced_blocks == 1 ? "it was" : "they were");
	if (losses->unmapped)
		message_note("%" PRIu64
			     " time%s pages were unmapped that no known mapping begins or "
			     "ends with: they are of before the measurement, or some mappings are "
			     "smaller than they are shown",
			     losses->unmapped, losses->unmapped == 1 ? "" : "s");
	if (losses->unreturned)
		message_note("%" PRIu64 " call%s did not return: jumped over (longjmp, an "
			     "exception), or the thread or the measurement ended first",
			     losses->unreturned, losses->unreturned == 1 ? "" : "s");
	if (losses->unentered)
		message_note("%" PRIu64
			     " return%s of calls that began before the measurement, or in "
			     "the parent of a forked child",
			     losses->unentered, losses->unentered == 1 ? "" : "s");
	if (losses->due)
		message_verbose("clock: %" PRIu64 " samples were due, of any process; %" PRIu64
				" came",
				losses->due, losses->due - tally_never_came(losses));
	if (tally_lost(losses) == 0)
		message_verbose("%" PRIu64 " events; nothing was lost%s", losses->events,
				throttled);
	else
		message_verbose("%" PRIu64 " events; lost: %" PRIu64
				" because the ring was full, %" PRIu64
				" beyond --hash-storage-size, %" PRIu64 " beyond --memory, %" PRIu64
				" nested%s",
				losses->events, losses->lost_ring, losses->lost_counts,
				losses->lost_memory, losses->lost_nested, throttled);
}

static int advise(const struct run_report *report)
{
	struct advice advice;
	int r = advice_of(report->tally, report->names, &advice);

	if (r < 0)
		return r;
	if (*advice.callers)
		message_note("%s", advice.callers);
	if (*advice.names)
		message_note("%s", advice.names);
	if (*advice.functions)
		message_note("%s", advice.functions);
	return 0;
}

/* How many user frames have no symbol, and what to do about it. */
static int note_unnamed(const struct run_report *report)
{
	own(unnamed_clear) struct unnamed unnamed = { 0 };
	char line[UNNAMED_LINE_SIZE];
	int r = unnamed_count(report->tally, report->names, &unnamed);

	if (r < 0)
		return r;
	unnamed_line(&unnamed, report->names, report->request->program, line);
	if (*line)
		message_note("%s", line);
	return 0;
}

/* Whether samples by time were asked for, which threads that sleep have none of. */
static bool samples_time(const struct run_report *report)
{
	return !report->meta.timed && report->meta.event &&
	       strcmp(report->meta.event, "cpu-clock") == 0;
}

/* --name selects threads, which a program may have given other names. False: nothing was told. */
static bool name_others(const struct run_report *report)
{
	const char *name = report->request->plan->filter.name;
	uint32_t n = name && !report->saved ? process_names_count(name) : 0;
	char others[200];

	if (!name || !report->others)
		return false;
	if (n) {
		if (samples_time(report))
			message_note("%" PRIu32 " thread%s named %s did not run, but sleep%s: %s "
				     "--off-cpu --name '%s' shows what for",
				     n, n > 1 ? "s" : "", name, n > 1 ? "" : "s",
				     report->request->program, name);
		return samples_time(report);
	}
	comms_describe(report->others, others, sizeof(others));
	if (*others)
		message_note("no thread named %s was seen; seen most: %s", name, others);
	return *others;
}

/* Without commas, but for a time, which is for readers only. */
static void put_amount(struct bytes *bytes, const struct profile_meta *meta, uint64_t count)
{
	if (quantity_is_time(meta)) {
		quantity_put(bytes, meta, count);
	} else {
		bytes_decimal(bytes, count);
		bytes_char(bytes, ' ');
		quantity_put_unit(bytes, meta, count);
	}
	quantity_put_of(bytes, meta);
}

/* A measurement is not about itself. */
static void tell_own(const struct run_report *report)
{
	char count[QUANTITY_SIZE];

	if (!report->own_events || report->reported)
		return;
	if (report->meta.timed || report->meta.threads) {
		message_note("this process is left out (--self shows it)");
		return;
	}
	if (report->meta.summed)
		snprintf(count, sizeof(count), "%" PRIu64 " events", report->own_events);
	else
		quantity_text(&report->meta, report->own_events, count);
	message_note("own work: %s, left out (--self shows it)", count);
}

static int tell_total(const struct run_report *report, const struct summary *summary)
{
	const struct tally_losses *losses = tally_losses_of(report->tally);
	/* The number of stacks that are shown; different ones may print alike. */
	uint32_t n_stacks = report->shown.stacks ? report->shown.stacks : summary->n_stacks;
	own(bytes_clear) struct bytes total = { 0 };

	put_amount(&total, &report->meta, summary->total);
	quantity_put_events(&total, &report->meta, tally_events(report->tally), false);
	bytes_char(&total, '\0');
	if (total.failed)
		return total.failed;
	message_note("%s, %u stack%s, %" PRIu64 " lost", total.start, n_stacks,
		     n_stacks == 1 ? "" : "s", tally_lost(losses));
	return 0;
}

/* Of a whole machine, most of the time off the CPU is that of threads that do nothing at all. */
static int tell_asleep(const struct run_report *report)
{
	own(bytes_clear) struct bytes text = { 0 };

	/* A dump is of threads that wait, and is no table. */
	if (!report->shown.as_others || report->request->plan->filter.tgids.n ||
	    report->meta.threads)
		return 0;
	quantity_put(&text, &report->meta, report->shown.as_others);
	bytes_char(&text, '\0');
	if (text.failed)
		return text.failed;
	message_note("%s of it in waits that began before the start; --format top leaves them out",
		     text.start);
	return 0;
}

static void tell_unmatched(void *context, const char *option, const char *expression)
{
	(void)context;
	message_line("WARNING: no function, file or module matches %s '%s'", option, expression);
}

/* What --focus and the like did not show of it. */
static int tell_left_out(const struct run_report *report)
{
	const struct frame_filter *filter = report->request->report.filter;
	const struct report_shown *shown = &report->shown;
	own(bytes_clear) struct bytes text = { 0 };

	if (shown->left_out) {
		put_amount(&text, &report->meta, shown->counts);
		bytes_string(&text, "; ");
		put_amount(&text, &report->meta, shown->left_out);
		bytes_char(&text, '\0');
		if (text.failed)
			return text.failed;
		message_note("shown: %s are left out by %s", text.start,
			     frame_filter_causes(filter));
	}
	return frame_filter_unmatched(filter, report->names, tell_unmatched, NULL);
}

int run_notes_of_report(const struct run_report *report, struct error *err)
{
	const struct tally_losses *losses = tally_losses_of(report->tally);
	struct summary summary;
	int r = summary_of(report->tally, report->names, &summary);

	if (r < 0)
		return error_set(err, r, "cannot summarize the report: %s", strerror(-r));
	warn(report, summary.missed_sides);
	warn_not_opened(report, &summary.ends);
	tell_losses(losses);
	tell_ends(&report->meta, &summary.ends);
	tell_programs(&report->meta, &summary.ends);
	if (is_quiet(report)) {
		if (!report->reported)
			lacks_tell(report);
		return 0;
	}
	r = tell_total(report, &summary);
	if (r == 0)
		r = tell_left_out(report);
	if (r == 0)
		r = tell_asleep(report);
	if (r < 0)
		return error_set(err, r, "out of memory");
	tell_own(report);
	if (report->reported)
		return 0; /* told with the first report */
	if (summary.total == 0 && tally_events(report->tally) == 0 && !name_others(report))
		empty_tell(report);
	lacks_tell(report);
	r = advise(report);
	if (r == 0 && !report->request->plan->symbols && message_level() > MESSAGE_QUIET)
		r = note_unnamed(report);
	if (r == 0 && report->request->plan->answer && summary.total > 0)
		r = next_steps_tell(report);
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

void run_notes_of_tables(const struct session *session, struct profile_unwinding *ret_unwinding)
{
	struct unwinder_stats is;

	if (!session_unwinding(session, &is))
		return;
	*ret_unwinding = (struct profile_unwinding){ .tables = is.tables.ready,
						     .rows = is.tables.rows,
						     .bytes = is.tables.bytes,
						     .compiled = is.tables.compiled,
						     .compile_ns = is.tables.compile_ns,
						     .cached = is.tables.cached,
						     .cached_ns = is.tables.cached_ns,
						     .waited = is.waited,
						     .waited_completed = is.finished };
}

void run_notes_of_interpreters(const struct session *session)
{
	const char *why = session_not_interpreted(session);
	pid_t tgid = 0;

	if (why)
		message_line("WARNING: the functions of interpreted programs are missing: %s", why);
	why = session_refused(session, &tgid);
	if (why)
		message_verbose(
			"Java of process %d is not walked: its description of %s does not fit",
			(int)tgid, why);
}

void run_notes_of_unwinding(const struct session *session)
{
	struct unwinder_stats is;

	if (!message_is_verbose() || !session_unwinding(session, &is))
		return;
	message_verbose("unwinding: %u tables of %u files, %" PRIu64 " rows, %u rules, %.1f MB of "
			"%.0f; %" PRIu64 " compiled in %.0f ms, %" PRIu64 " from disk in %.0f ms; "
			"%u pending, %u without CFI, %u broken, %u not opened, %u evicted",
			is.tables.ready, is.tables.tables, is.tables.rows, is.tables.rules,
			(double)is.tables.bytes / 1e6, (double)is.tables.bytes_limit / 1e6,
			is.tables.compiled, (double)is.tables.compile_ns / 1e6, is.tables.cached,
			(double)is.tables.cached_ns / 1e6, is.tables.pending, is.tables.no_cfi,
			is.tables.broken, is.tables.not_opened, is.tables.evicted);
	message_verbose("unwinding: %u processes; %" PRIu64
			" stacks finished in user space, %" PRIu64 " of them complete",
			is.tables.processes, is.waited, is.finished);
	if (is.tables.over_share)
		message_verbose(
			"unwinding: %u evicted because a user's files have only a share of the "
			"memory",
			is.tables.over_share);
	if (is.tables.rules_refused)
		message_verbose("unwinding: no room for %" PRIu64 " rules more",
				is.tables.rules_refused);
	if (is.tables.processes_cut || is.tables.mappings_cut)
		message_verbose("unwinding: no room for %" PRIu64 " processes and %" PRIu64
				" mappings more",
				is.tables.processes_cut, is.tables.mappings_cut);
}

void run_notes_of_images(const struct images *images)
{
	const struct images_losses *losses = images_losses(images);
	uint32_t late = images_n_late_containers(images), late_files;
	const char *late_file = images_late_file(images, &late_files);
	struct images_size size;

	if (late)
		message_note("%u container%s no names: files of their runtimes did not respond in "
			     "time",
			     late, late > 1 ? "s have" : " has");
	if (late_file)
		message_note("a file system does not respond: %u file%s waited for in vain, such "
			     "as %s",
			     late_files, late_files > 1 ? "s were" : " was", late_file);
	if (losses->side_band_lost)
		message_line("WARNING: %" PRIu64
			     " mapping events lost; code loaded during the run may be [unknown]",
			     losses->side_band_lost);
	if (!message_is_verbose())
		return;
	images_size(images, &size);
	message_verbose("processes: %u address spaces, %u process images sampled, %" PRIu64
			" mappings; %u files, %u held open; missed: %" PRIu64 " processes, %" PRIu64
			" records, %" PRIu64 " mappings, %" PRIu64 " files",
			size.spaces, size.sampled, size.mappings, size.files, size.files_held,
			losses->processes_gone, losses->side_band_lost, losses->mappings_cut,
			losses->files_unreadable);
}
