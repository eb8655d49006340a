// SPDX-License-Identifier: GPL-2.0-or-later
#include "commands/shared_outputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"
#include "report/function_columns.h"
#include "report/writer.h"

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
	bool asked = shared_outputs_asks(options);

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

void shared_outputs_notes(const struct shared_options *options, const struct plan *plan,
			  bool columns)
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

bool shared_outputs_asks(const struct shared_options *options)
{
	return options->formats.n || options->folded || asks_for_table(options);
}

int shared_outputs_plan(const struct shared_options *options, bool stacks, struct plan *plan,
			uint32_t *ret_rows, struct error *err)
{
	int r = plan_outputs(options, stacks, plan, err);

	if (r == 0)
		r = check_folded(options, plan, err);
	if (r == 0)
		r = check_tables(options, plan, err);
	if (r == 0)
		r = count_rows(options, ret_rows, err);
	if (r == 0)
		r = plan_display(options, plan, err);
	if (r < 0)
		shared_outputs_clear(plan);
	return r;
}

void shared_outputs_clear(struct plan *plan)
{
	free((void *)plan->outputs);
	plan->outputs = NULL;
	plan->n_outputs = 0;
}
