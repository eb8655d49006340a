// SPDX-License-Identifier: GPL-2.0-or-later
#include "commands/shared_plan.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/message.h"
#include "report/function_columns.h"
#include "run/part.h"

/* Whether an option of bcc's is given that is about how stacks are printed. */
static bool asks_for_stacks(const struct shared_options *options)
{
	return options->delimited || options->annotations || options->offset || options->address ||
	       options->by_address || options->lines;
}

static bool asks_for_table(const struct shared_options *options)
{
	return options->top || options->rows || options->columns || options->sort;
}

/* The format of stdout where --format gives none; NULL: bcc's layout. */
static const char *usual_format(const struct shared_options *options, bool answer)
{
	if (options->folded)
		return "folded";
	return answer || asks_for_table(options) ? "top" : NULL;
}

/* --tui or --live has shown it, or an engine gets it: there is no report unless one is asked for.
 */
static bool is_shown(const struct shared_options *options)
{
	bool asked = options->formats.n || options->folded || asks_for_table(options);

	if ((options->tui || options->live) && !asked && options->interval <= 0)
		return isatty(STDOUT_FILENO);
	return (options->push || options->symbols || options->keep > 0) && !asked;
}

static bool is_stdout(const char *path)
{
	return strcmp(path, "-") == 0;
}

/* Whether the table of --top goes to stdout in addition to files. */
static bool adds_table(const struct shared_options *options)
{
	if (!options->top || !options->outputs.n)
		return false;
	for (uint32_t i = 0; i < options->outputs.n; i++)
		if (is_stdout(options->outputs.strings[i]))
			return false;
	return true;
}

static int check_outputs(const struct shared_options *options, uint32_t n, struct error *err)
{
	if (options->formats.n > n)
		return error_usage(err, "argument --format: given %u times for %u output%s",
				   options->formats.n, n, n == 1 ? "" : "s");
	if (options->top && options->folded)
		return error_usage(err, "argument --top: not allowed with argument -f/--folded");
	if (options->top && options->formats.n && !options->outputs.n)
		return error_usage(err, "argument --top: not allowed with argument --format");
	return 0;
}

/*
 * One output for each -o, with its --format; stdout if there is no -o. A terminal gets the table
 * unless something else is asked for: scripts that read bcc's layout read a pipe or a file.
 */
static int plan_outputs(const struct shared_options *options, bool stacks, struct plan *plan,
			struct error *err)
{
	uint32_t n = options->outputs.n ? options->outputs.n : is_shown(options) ? 0 : 1;
	struct plan_output *outputs = calloc(n + 2, sizeof(*outputs));

	if (!outputs)
		return error_set(err, -ENOMEM, "out of memory");
	plan->outputs = outputs;
	plan->n_outputs = n;
	plan->answer = n && !options->outputs.n && !options->formats.n && !options->folded &&
		       !stacks && !asks_for_stacks(options) && isatty(STDOUT_FILENO);
	for (uint32_t i = 0; i < n; i++) {
		if (options->outputs.n && !is_stdout(options->outputs.strings[i]))
			outputs[i].path = options->outputs.strings[i];
		if (i < options->formats.n)
			outputs[i].format = options->formats.strings[i];
		else if (!outputs[i].path)
			outputs[i].format = usual_format(options, plan->answer);
	}
	if (adds_table(options))
		outputs[plan->n_outputs++].format = "top";
	return check_outputs(options, n, err);
}

/* The rows of --top=N or -n N. */
static int count_rows(const struct shared_options *options, uint32_t *ret_rows, struct error *err)
{
	char *end = NULL;
	unsigned long rows;

	*ret_rows = (uint32_t)options->rows;
	if (!options->top || !*options->top)
		return 0;
	if (options->rows)
		return error_usage(err, "argument -n/--rows: not allowed with --top=%s",
				   options->top);
	rows = strtoul(options->top, &end, 10);
	if (*end || *options->top < '0' || *options->top > '9' || rows > UINT32_MAX)
		return error_usage(err, "argument --top: invalid int value: '%s'", options->top);
	if (rows == 0)
		return error_usage(err, "argument --top: must be nonzero");
	*ret_rows = (uint32_t)rows;
	return 0;
}

static bool is_table(const struct plan_output *output)
{
	const struct writer *writer = output->format ? writer_by_name(output->format)
				      : output->path ? writer_by_path(output->path)
						     : NULL;

	return writer == &top_writer || writer == &csv_writer || writer == &tsv_writer;
}

/* -n, --columns and --sort are of tables. */
static int check_tables(const struct shared_options *options, const struct plan *plan,
			struct error *err)
{
	const char *option = options->rows	? "-n/--rows"
			     : options->columns ? "--columns"
			     : options->sort	? "--sort"
						: NULL;
	struct function_columns columns;
	enum function_order order;
	int r = function_columns_order(options->sort, false, &order, err);

	if (r == 0 && options->columns)
		r = function_columns_parse(options->columns, &columns, err);
	for (uint32_t i = 0; r == 0 && option && i < plan->n_outputs; i++)
		if (is_table(&plan->outputs[i]))
			return 0;
	return r == 0 && option ? error_usage(err,
					      "argument %s: no output is a table: use --top, "
					      "--format csv, or -o FILE.csv",
					      option)
				: r;
}

/* The display of a running measurement: --tui, --live, or a progress line on a terminal. */
static int plan_display(const struct shared_options *options, struct plan *plan, struct error *err)
{
	bool to_terminal = false, to_file = false;

	for (uint32_t i = 0; i < plan->n_outputs; i++) {
		to_terminal |= !plan->outputs[i].path && isatty(STDOUT_FILENO);
		to_file |= plan->outputs[i].path != NULL;
	}
	if (options->tui && options->interval > 0 && to_terminal)
		return error_usage(err,
				   "argument --tui: interval reports on the same terminal would "
				   "overwrite the flame graph: use -o FILE");
	plan->tui = options->tui;
	plan->progress = !options->tui && !options->quiet && !to_file && !plan->command &&
			 options->interval <= 0 && isatty(STDERR_FILENO);
	plan->tick = plan->tui || plan->progress || plan->live ? 1 : 0;
	return 0;
}

static bool is_folded(const struct plan_output *output)
{
	const struct writer *writer = output->format ? writer_by_name(output->format)
				      : output->path ? writer_by_path(output->path)
						     : NULL;

	return writer == &folded_writer;
}

/* -f is the format of stdout; each file has that of its name. */
static int check_folded(const struct shared_options *options, const struct plan *plan,
			struct error *err)
{
	for (uint32_t i = 0; i < plan->n_outputs; i++)
		if (is_folded(&plan->outputs[i]))
			return 0;
	if (!options->folded || !plan->n_outputs)
		return 0;
	return error_usage(err,
			   "argument -f/--folded: no output is folded: %s has a format of its own "
			   "(use -o FILE.folded, or -o - for stdout as well)",
			   plan->outputs[0].path ? plan->outputs[0].path : "standard output");
}

void shared_plan_notes(const struct shared_options *options, const struct plan *plan, bool columns)
{
	for (uint32_t i = 0; i < plan->n_outputs; i++)
		if (!is_folded(&plan->outputs[i]))
			return;
	/* As in bcc. */
	if (plan->n_outputs && (options->address || options->offset || columns))
		message_note("folded stacks have neither addresses nor offsets: %s has no effect",
			     options->address  ? "-A"
			     : options->offset ? "-s"
					       : "-v");
}

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

/* Whether a report on stdout is asked for. */
static bool asks(const struct shared_options *options)
{
	return options->formats.n || options->folded || asks_for_table(options);
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
	if (options->keep > 0 && options->interval <= 0 && (options->outputs.n || asks(options)))
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
	r = plan_outputs(options, stacks, &plan, err);
	if (r == 0)
		r = check_folded(options, &plan, err);
	if (r == 0)
		r = check_tables(options, &plan, err);
	if (r == 0)
		r = count_rows(options, &report.rows, err);
	if (r == 0)
		r = plan_display(options, &plan, err);
	if (r < 0) {
		shared_plan_clear(&plan);
		return r;
	}
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

void shared_plan_clear(struct plan *plan)
{
	free((void *)plan->outputs);
	plan->outputs = NULL;
	plan->n_outputs = 0;
}

void shared_plan_scope(const struct plan *plan, char *ret_scope, size_t size)
{
	const struct id_list *list =
		plan->filter.tgids.n ? &plan->filter.tgids : &plan->filter.tids;
	const char *what = plan->filter.tgids.n ? "PID" : "TID";
	size_t at;

	if (plan->command && !list->n) {
		snprintf(ret_scope, size, "'%s'", plan->command[0]);
		return;
	}
	if (!list->n) {
		snprintf(ret_scope, size, PROFILE_SCOPE_ALL);
		return;
	}
	at = (size_t)snprintf(ret_scope, size, list->n == 1 ? "%s " : "%s [", what);
	for (uint32_t i = 0; i < list->n && at < size; i++)
		at += (size_t)snprintf(ret_scope + at, size - at, "%s%d", i ? ", " : "",
				       list->ids[i]);
	if (list->n > 1 && at < size)
		snprintf(ret_scope + at, size - at, "]");
}

/* As the kernel writes lists: runs of numbers that follow each other. */
void shared_plan_cpus(const struct plan_filter *filter, char *ret_text, size_t size)
{
	const struct id_list *cpus = &filter->cpus;
	size_t at = 0;

	*ret_text = '\0';
	for (uint32_t i = 0, last; i < cpus->n && at < size; i = last + 1) {
		last = i;
		while (last + 1 < cpus->n && cpus->ids[last + 1] == cpus->ids[last] + 1)
			last++;
		at += (size_t)snprintf(ret_text + at, size - at, "%s%d", i ? "," : "",
				       cpus->ids[i]);
		if (last > i && at < size)
			at += (size_t)snprintf(ret_text + at, size - at, "-%d", cpus->ids[last]);
	}
}

static void add_condition(struct shared_texts *texts, const char *what, const char *value)
{
	size_t used = strlen(texts->filter);

	if (value)
		snprintf(texts->filter + used, sizeof(texts->filter) - used, "%s%s%s",
			 used ? ", " : "", what, value);
}

void shared_plan_meta(const struct plan *plan, struct shared_texts *texts,
		      struct profile_meta *meta)
{
	const struct plan_filter *filter = &plan->filter;
	char cpus[256];

	shared_plan_scope(plan, texts->scope, sizeof(texts->scope));
	shared_plan_cpus(filter, cpus, sizeof(cpus));
	texts->filter[0] = '\0';
	add_condition(texts, "", filter->follow_forks ? "with children" : NULL);
	add_condition(texts, filter->cpus.n > 1 ? "CPUs " : "CPU ", filter->cpus.n ? cpus : NULL);
	add_condition(texts, "NUMA node ", filter->node);
	add_condition(texts, "processes of ", filter->exe);
	add_condition(texts, "threads named ", filter->name);
	add_condition(texts, "user ", filter->user);
	add_condition(texts, "cgroup ", part_cgroup(filter->groups.cgroup));
	add_condition(texts, "service ", filter->groups.service);
	add_condition(texts, "container ", filter->groups.container);
	add_condition(texts, "pod ", filter->groups.pod);
	add_condition(texts, "cgroups in the map ", filter->cgroupmap);
	add_condition(texts, "mount namespaces in the map ", filter->mntnsmap);
	add_condition(texts, "", plan->filter.condition);
	meta->scope = texts->scope;
	meta->filter = texts->filter[0] ? texts->filter : NULL;
	meta->hash_storage = plan->hash_storage;
	meta->stack_storage = plan->stack_storage;
	meta->user = plan->user;
	meta->kernel = plan->kernel;
	meta->has = (struct profile_details){ .processes = true,
					      .threads = plan->per_thread,
					      .cgroups = plan->per_cgroup,
					      .idle = filter->include_idle,
					      .inlines = plan->inlines,
					      .lines = plan->lines };
}

/* Characters that need no quoting. */
#define BARE "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-"

static void put_word(FILE *out, const char *word)
{
	if (*word && word[strspn(word, BARE)] == '\0') {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	}
	fputc('\'', out);
}

char *shared_command_line(int argc, char *const *argv)
{
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	if (!out)
		return NULL;
	for (int i = 0; i < argc; i++) {
		if (i > 0)
			fputc(' ', out);
		put_word(out, argv[i]);
	}
	if (fclose(out) != 0) {
		free(line);
		return NULL;
	}
	return line;
}
