// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table that answers at once: who had the CPUs, which functions, by which way; at most 40 lines
 * with what stands around it, on 80 columns. It is what a terminal gets if nothing else is asked
 * for. With --columns it is a table of functions.
 */
#include <errno.h>

#include "base/own.h"
#include "report/function_rows.h"
#include "report/top_table.h"
#include "report/writer.h"
#include "view/facts.h"
#include "view/quantity.h"
#include "view/scale.h"

#define WIDTH_OF_FILES 80
#define WIDTH_LEAST    40

/* On a terminal that is redrawn the whole table has to be seen: first the stacks go, then the
 * functions by total. */
#define LINES_WITH_STACKS 39
#define LINES_WITH_TOTALS 29

static struct top_rows choose_rows(const struct report *report)
{
	uint32_t n = report->options->rows, height = report->screen.height;
	struct top_rows rows = {
		.processes = 5, .by_self = 6, .by_total = 4, .stacks = 2, .wakers = 4
	};
	if (n)
		return (struct top_rows){ n, n, n, n, n };
	if (height && height < LINES_WITH_STACKS)
		rows.stacks = 0;
	if (height && height < LINES_WITH_TOTALS)
		rows.by_total = rows.wakers = 0;
	return rows;
}

static void put_amount(struct bytes *bytes, const struct profile *profile)
{
	const struct profile_meta *meta = profile->meta;
	char text[64];
	double cpus;

	quantity_put(bytes, meta, profile->total);
	quantity_put_of(bytes, meta);
	quantity_put_events(bytes, meta, profile->events, true);
	if (!meta->duration_ns)
		return;
	snprintf(text, sizeof(text), " in %.1f s", (double)meta->duration_ns / 1e9);
	bytes_string(bytes, text);
	*text = '\0';
	if (function_columns_cpus(meta, profile->total, &cpus))
		snprintf(text, sizeof(text), meta->timed ? ": %.1f threads" : ": %.2f CPUs", cpus);
	else if (!meta->unit && !meta->measure)
		snprintf(text, sizeof(text), ": %.1f a second",
			 (double)profile->total * 1e9 / (double)meta->duration_ns);
	bytes_string(bytes, text);
}

static void put_text(struct bytes *bytes, const char *before, const char *text)
{
	if (!text)
		return;
	bytes_string(bytes, before);
	bytes_name(bytes, text, strlen(text));
}

/* What a difference is to: its file, and what was measured there. */
static void put_base(struct top *top)
{
	const struct profile *base = top->profile->base;
	const struct profile_meta *meta = base->meta;
	const struct scale *scale = &top->profile->base_scale;
	own(bytes_clear) struct bytes line = { 0 };
	char time[FACTS_TIME_SIZE];

	put_text(&line, "before: ", top->report->base_name ? top->report->base_name : "the base");
	bytes_string(&line, ", ");
	put_amount(&line, base);
	bytes_char(&top->bytes, '\n');
	top_wrap(top, &line);
	bytes_char(&top->bytes, '\n');
	line.used = 0;
	if (scale->now != scale->base) {
		char factor[64];

		snprintf(factor, sizeof(factor), "        its counts times %.4g: %s\n",
			 scale_factor(scale),
			 scale->how == SCALE_RATES ? "the same time and rate" : "the same total");
		bytes_string(&top->bytes, factor);
	}
	if (!meta->start_time_ns && !meta->hostname && !meta->command_line)
		return;
	if (meta->start_time_ns) {
		facts_time(meta->start_time_ns, time);
		time[19] = '\0'; /* without the parts of a second */
		put_text(&line, "", time);
		bytes_string(&line, "Z ");
	}
	put_text(&line, "on ", meta->hostname);
	put_text(&line, meta->hostname ? ": " : "", meta->command_line);
	bytes_char(&line, '\0');
	bytes_string(&top->bytes, "        ");
	if (!line.failed)
		top_last(top, line.start, 8);
}

/* Threads that sleep all the time have nearly all the time off the CPU of a whole machine. */
static void put_asleep(struct top *top)
{
	own(bytes_clear) struct bytes line = { 0 };
	char text[64];
	double threads;

	bytes_string(&line, "left out: ");
	quantity_put(&line, top->meta, top->profile->asleep);
	if (function_columns_cpus(top->meta, top->profile->asleep, &threads)) {
		snprintf(text, sizeof(text), ", %.1f threads", threads);
		bytes_string(&line, text);
	}
	bytes_string(&line, ", of waits that began before the start; -p shows them");
	bytes_char(&top->bytes, '\n');
	top_wrap(top, &line);
}

static void put_summary(struct top *top)
{
	uint64_t lost = tally_lost(top->profile->losses);

	top_colour(top, TOP_HEAD);
	put_amount(&top->bytes, top->profile);
	top_colour(top, TOP_PLAIN);
	if (lost) {
		bytes_string(&top->bytes, ", ");
		bytes_decimal(&top->bytes, lost);
		bytes_string(&top->bytes, " lost");
	}
	if (top->profile->asleep)
		put_asleep(top);
	if (top->profile->base)
		put_base(top);
	else
		bytes_char(&top->bytes, '\n');
}

static int put_all(struct top *top)
{
	int r = process_list_make(top->profile, top->report->options->show_cgroup, &top->processes);

	if (r == 0)
		r = waker_list_make(top->profile, &top->wakers);
	if (r < 0)
		return r;
	put_summary(top);
	if (!top->processes.n)
		return 0;
	top_put_processes(top);
	top_put_functions(top);
	top_put_wakers(top);
	if (!top->profile->base)
		top_put_stacks(top);
	return 0;
}

static int put(struct top *top, struct error *err)
{
	const struct report_options *options = top->report->options;
	bool compared = top->profile->base != NULL;
	struct function_columns columns;
	enum function_order order;
	int r = function_columns_order(options->sort, compared, &order, err);

	function_columns_usual(top->profile, true, &columns);
	if (r == 0 && options->columns)
		r = function_columns_parse(options->columns, &columns, err);
	if (r == 0)
		r = function_columns_check(&columns, top->profile, err);
	if (r < 0)
		return r;
	r = function_list_make(top->profile, &top->functions);
	if (r == 0)
		function_list_sort(&top->functions, order);
	if (r == 0 && !options->columns && !options->sort)
		r = put_all(top);
	else if (r == 0)
		top_put_columns(top, &columns);
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

static int top_write(const struct report *report, FILE *out, struct error *err)
{
	const struct report_screen *screen = &report->screen;
	struct top top = {
		.report = report,
		.profile = report->profile,
		.meta = report->profile->meta,
		.width = screen->width ? screen->width : WIDTH_OF_FILES,
		.cut = screen->width > 0,
		.colours = screen->colours,
		.rows = choose_rows(report),
	};
	int r;

	if (top.width < WIDTH_LEAST)
		top.width = WIDTH_LEAST;
	bytes_start(&top.bytes, NULL);
	r = put(&top, err);
	if (r == 0 && top.bytes.failed)
		r = error_set(err, -ENOMEM, "out of memory");
	if (r == 0)
		fwrite(top.bytes.start, 1, top.bytes.used, out);
	function_list_clear(&top.functions);
	process_list_clear(&top.processes);
	waker_list_clear(&top.wakers);
	bytes_clear(&top.bytes);
	return r;
}

/* Chosen columns are exact. */
static uint32_t top_view(const struct report_options *options)
{
	return function_rows_view(options) |
	       (options->columns || options->sort ? 0 : PROFILE_VIEW_AWAKE);
}

static const char *const extensions[] = { ".top", NULL };

const struct writer top_writer = {
	.name = "top",
	.description = "a table: processes, functions, hottest stacks",
	.extensions = extensions,
	.diffs = true,
	.titled = true,
	.wraps = true,
	.view = top_view,
	.write = top_write,
};
