// SPDX-License-Identifier: GPL-2.0-or-later
#include "commands/shared_plan.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "commands/shared_outputs.h"

static int plan_unwind(const char *how, enum plan_unwind *ret_unwind, struct error *err)
{
	static const struct {
		const char *name;
		enum plan_unwind unwind;
	} ways[] = {
		{ "auto", PLAN_UNWIND_AUTO },
		{ "cfi", PLAN_UNWIND_CFI },
		{ "fp", PLAN_UNWIND_FP },
		{ "none", PLAN_UNWIND_NONE },
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(how, ways[i].name) == 0) {
			*ret_unwind = ways[i].unwind;
			return 0;
		}
	}
	return error_usage(err,
			   "argument --unwind: invalid choice: '%s' (choose from 'auto', 'cfi', "
			   "'fp', 'none')",
			   how);
}

static void plan_depth(uint32_t asked, struct plan *plan)
{
	bool by_kernel = plan->unwind == PLAN_UNWIND_FP;

	plan->max_depth = asked;
	plan->kernel_depth = asked ? asked : MAX_DEPTH_BY_KERNEL;
	plan->user_depth = asked ? asked : by_kernel ? MAX_DEPTH_BY_KERNEL : MAX_DEPTH_LIMIT;
}

/* "key=value": a key as OpenTelemetry's semantic conventions have them. */
static bool is_label(const char *text)
{
	size_t size = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_.-/");

	return size > 0 && size <= 128 && !(text[0] >= '0' && text[0] <= '9') &&
	       text[size] == '=' && text[size + 1] && strlen(text + size + 1) <= 1024;
}

static int check_push(const struct shared_options *options, struct error *err)
{
	const char *needs = options->labels.n	 ? "--label"
			    : options->no_labels ? "--no-labels"
			    : options->no_names	 ? "--no-names"
			    : options->push_auth ? "--push-auth"
			    : options->push_ca	 ? "--push-ca"
			    : options->spool	 ? "--spool"
						 : NULL;
	const char *excluded = options->tui	  ? "--tui"
			       : options->live	  ? "--live"
			       : options->diff	  ? "--diff"
			       : options->symbols ? "--symbols"
						  : NULL;

	if (options->live_token && !options->live)
		return error_usage(err, "argument --live-token: needs --live");
	if (!options->push && needs)
		return error_usage(err, "argument %s: needs --push", needs);
	if (options->push && excluded)
		return error_usage(err, "argument --push: not allowed with argument %s", excluded);
	if (options->spool_size != SPOOL_DEFAULT && !options->spool)
		return error_usage(err, "argument --spool-size: needs --spool");
	if (options->labels.n > PUSH_MAX_LABELS)
		return error_usage(err, "argument --label: given more than %d times",
				   PUSH_MAX_LABELS);
	for (uint32_t i = 0; i < options->labels.n; i++)
		if (!is_label(options->labels.strings[i]))
			return error_usage(err, "argument --label: '%s' is not KEY=VALUE",
					   options->labels.strings[i]);
	return 0;
}

/* PERCENT of --fail-if-more: decimals, and 0 for any growth. */
static int plan_growth(const struct shared_options *options, struct plan *plan, struct error *err)
{
	char *end = NULL;

	if (!options->fail_if_more)
		return 0;
	plan->fail_if_more = true;
	if (!options->diff && !options->from)
		return error_usage(err, "argument --fail-if-more: needs --diff");
	if (*options->fail_if_more >= '0' && *options->fail_if_more <= '9')
		plan->most_growth = strtod(options->fail_if_more, &end);
	if (!end || *end || !(plan->most_growth <= 1e6))
		return error_usage(err, "argument --fail-if-more: must be a number of per cent");
	return 0;
}

static int plan_range(const struct shared_options *options, struct plan *plan, struct error *err)
{
	const char *why = options->range ? plan_range_parse(options->range, &plan->range) : NULL;

	if (why)
		return error_usage(err, "argument --range: %s", why);
	if (options->range && !options->from)
		return error_usage(err, "argument --range: needs --from");
	if (options->time_buckets > 0 && options->time_buckets < TIME_BUCKETS_LEAST)
		return error_usage(err, "argument --time-buckets: must be at least %g",
				   TIME_BUCKETS_LEAST);
	plan->time_buckets = options->time_buckets;
	plan->keep = options->keep;
	if (options->keep > KEEP_MOST)
		return error_usage(err, "argument --keep: must be at most %d s", KEEP_MOST);
	if (options->keep > 0 && options->interval <= 0 &&
	    (options->outputs.n || shared_outputs_asks(options)))
		return error_usage(err,
				   "argument --keep: with a report, needs -i/--interval: there "
				   "is one for each interval");
	return 0;
}

static int check_options(const struct shared_options *options, struct error *err)
{
	if ((options->diff_raw || options->diff_share) && !options->diff)
		return error_usage(err, "argument --diff-%s: needs --diff",
				   options->diff_raw ? "raw" : "share");
	if (options->debuginfo && !options->from)
		return error_usage(err, "argument --debuginfo: needs --from; a measurement takes "
					"BCC_DEBUGINFO_ROOT from the environment");
	if (options->value && !options->from && !options->diff)
		return error_usage(err, "argument --value: needs --from or --diff");
	if (options->children && !options->tgids.n)
		return error_usage(err, "argument --children: needs -p/--pid");
	if (options->node && options->cpus.n)
		return error_usage(err, "argument --node: not allowed with argument -C/--cpu");
	if (options->hash_storage_size > INT_MAX || options->stack_storage_size > INT_MAX)
		return error_usage(err, "a number is too large");
	return 0;
}

static struct plan_filter filter_of(const struct shared_options *options)
{
	return (struct plan_filter){
		.tgids = options->tgids,
		.tids = options->tids,
		.follow_forks = options->children,
		.self = options->self,
		.cpus = options->cpus,
		.node = options->node,
		.exe = options->exe,
		.name = options->name,
		.user = options->user,
		.groups = { .cgroup = options->cgroup,
			    .service = options->service,
			    .container = options->container,
			    .pod = options->pod },
	};
}

static struct plan_push push_of(const struct shared_options *options)
{
	return (struct plan_push){
		.url = options->push,
		.auth = options->push_auth,
		.ca = options->push_ca,
		.spool = options->spool,
		.spool_bytes = options->spool_size << 20,
		.labels = options->labels.strings,
		.n_labels = options->labels.n,
		.no_labels = options->no_labels,
		.no_names = options->no_names,
	};
}

static double interval_of(const struct shared_options *options)
{
	if (options->interval > 0)
		return options->interval;
	return options->push ? PUSH_INTERVAL : options->keep > 0 ? KEEP_INTERVAL : 0;
}

/* What of the plan is as the options say. */
static struct plan plan_of(const struct shared_options *options, char *const *command)
{
	return (struct plan){
		.filter = filter_of(options),
		.user = !options->kernel_only,
		.kernel = !options->user_only,
		.unwind_memory = options->unwind_memory << 20,
		.memory = options->memory << 20,
		.per_thread = options->per_thread,
		.per_cgroup = options->show_cgroup || options->push,
		.hash_storage = (uint32_t)options->hash_storage_size,
		.stack_storage = (uint32_t)options->stack_storage_size,
		.duration = options->duration,
		.interval = interval_of(options),
		.live = options->live,
		.command = command,
		.command_nice = getpriority(PRIO_PROCESS, 0),
		.force = options->force,
		.inlines = options->inlines,
		.lines = options->lines,
		.no_inlines = options->no_inlines,
		.symbols = options->symbols,
		.debuginfo = options->debuginfo,
		.native = options->native,
		.near = options->near,
		.diff = options->diff,
		.value = options->value,
		.live_token = options->live_token,
		.push = push_of(options),
	};
}

static struct report_options report_of(const struct shared_options *options)
{
	return (struct report_options){
		.delimited = options->delimited,
		.annotations = options->annotations,
		.offset = options->offset,
		.address = options->address,
		.by_address = options->by_address,
		.per_thread = options->per_thread,
		.show_cgroup = options->show_cgroup,
		.lines = options->lines,
		.user_only = options->user_only,
		.kernel_only = options->kernel_only,
		.bare_unknown = options->unknown,
		.by_comm = options->diff != NULL,
		.diff_scale = options->diff_raw	    ? SCALE_COUNTS
			      : options->diff_share ? SCALE_SHARES
						    : SCALE_RATES,
		.columns = options->columns,
		.sort = options->sort,
		.caption = options->title,
	};
}

static int plan_given(const struct shared_options *options, bool stacks, char *const *command,
		      struct plan *ret_plan, struct report_options *ret_report, struct error *err)
{
	struct plan plan = plan_of(options, command);
	struct report_options report = report_of(options);
	int r;

	r = check_options(options, err);
	if (r == 0)
		r = check_push(options, err);
	if (r < 0)
		return r;
	r = plan_unwind(options->unwind ? options->unwind : "auto", &plan.unwind, err);
	if (r < 0)
		return r;
	r = plan_range(options, &plan, err);
	if (r < 0)
		return r;
	r = plan_growth(options, &plan, err);
	if (r < 0)
		return r;
	plan_depth((uint32_t)options->max_depth, &plan);
	r = shared_outputs_plan(options, stacks, &plan, &report.rows, err);
	if (r < 0)
		return r;
	*ret_plan = plan;
	*ret_report = report;
	return 0;
}

/* The service always names a URL and a spool. With --keep it may have no URL: nothing is sent. */
static struct shared_options without_push(struct shared_options options)
{
	options.push = options.push_auth = options.push_ca = options.spool = NULL;
	options.no_names = options.no_labels = false;
	options.labels.n = 0;
	return options;
}

int shared_plan(const struct shared_options *options, bool stacks, char *const *command,
		struct plan *ret_plan, struct report_options *ret_report, struct error *err)
{
	bool keeps_only = options->push && !*options->push && options->keep > 0;
	struct shared_options given = keeps_only ? without_push(*options) : *options;

	return plan_given(&given, stacks, command, ret_plan, ret_report, err);
}
