// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/run.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/own.h"
#include "cli/message.h"
#include "run/live_recording.h"
#include "run/loaded.h"
#include "run/part.h"
#include "run/renamed.h"
#include "run/run_report.h"
#include "run/spooled.h"
#include "run/watch.h"
#include "tally/comms.h"

DEFINE_OWN(struct names, names_free)

/* The file of --from, and the request that it has to answer. */
struct asking {
	const struct run_request *request;
	const char *path;
	const struct measurement *of;
	struct error *err;
	bool no_addresses; /* the file holds names only */
};

static int refuse(const struct asking *asking, const char *option, const char *why)
{
	return error_usage(asking->err, "%s cannot be used with --from %s: %s", option,
			   asking->path, why);
}

static int check_event(const struct asking *asking)
{
	const char *pattern = asking->request->pattern, *event = asking->of->meta->event;

	if (!pattern || (event && strcmp(pattern, event) == 0))
		return 0;
	if (!event)
		return refuse(asking, pattern, "it does not say which event was counted");
	return error_usage(asking->err, "%s cannot be reported from %s: its event is %s", pattern,
			   asking->path, event);
}

/* A stack that was cut at fewer frames than are asked for now has lost some of these. */
static int check_depth(const struct asking *asking)
{
	uint32_t depth = asking->request->plan->max_depth;

	for (uint32_t i = 0; depth && i < tally_n_stacks(asking->of->tally); i++) {
		const struct tally_stack *stack = &tally_stacks(asking->of->tally)[i];

		if ((stack->flags & TALLY_STACK_CUT) && stack->n_frames < depth)
			return error_usage(asking->err,
					   "--max-depth %u cannot be used with --from %s: its "
					   "stacks were cut at %u frames",
					   depth, asking->path, stack->n_frames);
	}
	return 0;
}

/* Refuses options that the file cannot answer. */
static int check_details(const struct asking *asking)
{
	const struct plan *plan = asking->request->plan;
	const struct profile_meta *meta = asking->of->meta;
	const struct report_options *shown = &asking->request->report;
	const struct cgroup_filter *groups = &plan->filter.groups;
	static const char without_cgroups[] = "it was recorded without --show-cgroup";
	const struct {
		bool refused;
		const char *option, *why;
	} checks[] = {
		{ plan->filter.tgids.n && !meta->has.processes, "-p/--pid",
		  "it holds no ids of processes" },
		{ plan->filter.tids.n && !meta->has.threads, "-L/--tid",
		  "it was recorded without --per-thread" },
		{ plan->per_thread && !meta->has.threads, "--per-thread",
		  "it was recorded without --per-thread" },
		{ groups->cgroup && !meta->has.cgroups, "--cgroup", without_cgroups },
		{ groups->service && !meta->has.cgroups, "--service", without_cgroups },
		{ groups->container && !meta->has.cgroups, "--container", without_cgroups },
		{ groups->pod && !meta->has.cgroups, "--pod", without_cgroups },
		{ plan->per_cgroup && !meta->has.cgroups, "--show-cgroup", without_cgroups },
		{ plan->filter.include_idle && !meta->has.idle, "-I/--include-idle",
		  "it was recorded without -I" },
		{ !plan->kernel && !meta->user, "-U/--user-stacks-only",
		  "it was recorded with -K" },
		{ !plan->user && !meta->kernel, "-K/--kernel-stacks-only",
		  "it was recorded with -U" },
		{ shown->address && asking->no_addresses, "-A/--address",
		  "it holds names, and no addresses" },
		{ shown->verbose_address && asking->no_addresses, "-v/--verbose",
		  "it holds names, and no addresses" },
		{ shown->offset && asking->no_addresses, "-s/--offset",
		  "it holds names, and no addresses" },
		{ plan->inlines && !meta->has.inlines, "--inlines",
		  "it was recorded without --inlines" },
		{ plan->lines && !meta->has.lines, "--lines", "it was recorded without --lines" },
		{ asking->request->timestamp && !meta->start_time_ns, "-T/--timestamp",
		  "it does not say when it was measured" },
	};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (checks[i].refused)
			return refuse(asking, checks[i].option, checks[i].why);
	return 0;
}

/* --range, or the one that the path of --from ends with. */
static int find_range(const struct asking *asking, const struct loaded *loaded,
		      struct plan_range *ret_range)
{
	const struct plan_range *range = &asking->request->plan->range;

	if (range->given && loaded->range.given)
		return error_usage(asking->err, "argument --range: --from has a range itself");
	if ((range->given || loaded->range.given) && loaded->before.meta)
		return refuse(asking, "--range", "it is a difference");
	*ret_range = range->given ? *range : loaded->range;
	return 0;
}

static int make_part(const struct asking *asking, const struct loaded *loaded, struct part *part)
{
	const struct plan *plan = asking->request->plan;
	struct part_wanted wanted = { .name = asking->path };
	const struct selection selection = {
		.tgids = plan->filter.tgids,
		.tids = plan->filter.tids,
		.name = plan->filter.name,
		.groups = part_groups(&plan->filter.groups),
		.no_user = !plan->user && asking->of->meta->user,
		.no_kernel = !plan->kernel && asking->of->meta->kernel,
		.no_inlined = plan->no_inlines,
		.depth = plan->max_depth,
	};
	int r = check_event(asking);

	if (r == 0)
		r = check_details(asking);
	if (r == 0)
		r = check_depth(asking);
	if (r == 0)
		r = find_range(asking, loaded, &wanted.range);
	wanted.selection = selection;
	return r < 0 ? r : part_make(&wanted, asking->of, part, asking->err);
}

static int browse(struct run_report *report, struct error *err)
{
	own(own_watch_free) struct watch *watch = NULL;
	int r = watch_new(&report->request->report, &watch);

	if (r < 0)
		return error_set(err, r, "out of memory");
	r = watch_begin(watch, &report->meta, err);
	if (r < 0)
		return r;
	r = watch_update(watch, report->tally, report->names, &report->meta, err);
	if (r < 0)
		return r;
	watch_end(watch, true);
	return 0;
}

/* Opens the outputs before --live or --tui shows the recording: errors come first. */
static int show_and_report(struct run_report *report, const struct measurement *measurement,
			   struct error *err)
{
	const struct run_request *request = report->request;
	int r = run_report_open(report, false, err);

	if (r == 0)
		r = run_report_compare(report, err);
	if (r == 0 && request->plan->live)
		r = live_recording_serve(request, measurement, err);
	if (r == 0 && request->plan->tui)
		r = browse(report, err);
	if (r == 0)
		r = run_report_write(report, err);
	return r < 0 ? r : run_report_finish(report, err);
}

/* A file that is a difference is shown as --diff-raw would show it. */
static int show_difference(const struct asking *asking, struct plan *plan,
			   struct report_options *options)
{
	const char *option = plan->live ? "--live" : plan->tui ? "--tui" : "--diff";

	if (plan->live || plan->tui || plan->diff)
		return refuse(asking, option, "it is a difference itself");
	plan->diff = asking->path;
	options->by_comm = true;
	options->diff_scale = SCALE_COUNTS;
	return 0;
}

static int report_part(const struct asking *asking, const struct part *part,
		       const struct measurement *before, const struct comms *others,
		       int *ret_status)
{
	const struct profile_meta *meta = &part->meta;
	struct run_request shown = *asking->request;
	struct plan plan = *shown.plan;
	struct run_report report = {
		.request = &shown,
		.meta = *meta,
		.tally = part->measurement.tally,
		.names = part->measurement.names,
		.timeline = part->measurement.timeline,
		.others = others,
		.before = before,
		.saved = true,
		.began = (time_t)(meta->start_time_ns / NS_PER_SECOND),
		.ended = (time_t)((meta->start_time_ns + meta->duration_ns) / NS_PER_SECOND),
	};
	int r = before ? show_difference(asking, &plan, &shown.report) : 0;

	if (r < 0)
		return r;
	shown.plan = &plan;
	shown.report.by_comm |= !meta->has.processes;
	shown.farewell = NULL;
	r = show_and_report(&report, &part->measurement, asking->err);
	run_report_close(&report);
	*ret_status = report.grew ? EXIT_CLASS_MORE : EXIT_CLASS_OK;
	return r;
}

/* What --name leaves out. */
static int count_others(const struct asking *asking, struct comms *others)
{
	const char *name = asking->request->plan->filter.name;
	const struct tally *tally = asking->of->tally;
	int r = 0;

	for (uint32_t i = 0; r == 0 && name && i < tally_n_entries(tally); i++)
		r = comms_add(others, tally_entries(tally)[i].comm, tally_entries(tally)[i].count);
	return r < 0 ? error_set(asking->err, r, "out of memory") : 0;
}

static int report_file(const struct run_request *request, const char *path, int *ret_status,
		       struct error *err)
{
	own(loaded_clear) struct loaded loaded = { 0 };
	own(part_clear) struct part part = { 0 };
	own(comms_clear) struct comms others = { 0 };
	own(own_names_free) struct names *renamed = NULL;
	struct asking asking = { request, spooled_name(path), &loaded.measurement, err, false };
	int r = loaded_load(path, request->plan->value, &loaded, err);

	if (r == 0)
		r = renamed_make(loaded.measurement.names, request->plan->debuginfo, &renamed, err);
	if (r < 0)
		return r;
	if (renamed)
		loaded.measurement.names = renamed;
	asking.path = spooled_name(loaded.path);
	asking.no_addresses = loaded.imported.no_addresses;
	r = make_part(&asking, &loaded, &part);
	if (r == 0)
		r = count_others(&asking, &others);
	return r < 0 ? r
		     : report_part(&asking, &part, loaded.before.meta ? &loaded.before : NULL,
				   &others, ret_status);
}

int run_from(const struct run_request *request, const char *path)
{
	struct error err = { 0 };
	int status = EXIT_CLASS_OK;

	if (report_file(request, path, &status, &err) < 0)
		return message_error(request->program, &err);
	return status;
}
