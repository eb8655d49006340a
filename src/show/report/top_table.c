// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/top_table.h"

#include <stdio.h>
#include <string.h>

#include "report/fitted_text.h"
#include "view/frame_text.h"
#include "view/quantity.h"

#define GAP 2u /* between numbers and text */

void top_colour(struct top *top, enum top_colour colour)
{
	static const char *const scripts[] = {
		[TOP_PLAIN] = "\033[0m",
		[TOP_HEAD] = "\033[1m",
		[TOP_MORE] = "\033[31m",
		[TOP_LESS] = "\033[34m",
	};

	if (top->colours)
		bytes_string(&top->bytes, scripts[colour]);
}

void top_head(struct top *top, const char *text)
{
	top_colour(top, TOP_HEAD);
	fitted_put(&top->bytes, text, top->cut ? top->width : 0);
	top_colour(top, TOP_PLAIN);
	bytes_char(&top->bytes, '\n');
}

void top_right(struct top *top, const char *text, uint32_t width)
{
	for (uint32_t n = fitted_width(text, strlen(text)); n < width; n++)
		bytes_char(&top->bytes, ' ');
	bytes_string(&top->bytes, text);
}

/* Five digits at most: counts of millions have another unit. */
static void count_text(const struct profile_meta *meta, uint64_t count, char ret_text[64])
{
	static const char units[] = "kMGTPE";
	double number = (double)count;
	size_t unit = 0;

	if (quantity_is_time(meta)) {
		quantity_text(meta, count, ret_text);
		return;
	}
	if (count < 100000) {
		snprintf(ret_text, 64, "%llu", (unsigned long long)count);
		return;
	}
	for (number /= 1000; number >= 1000 && units[unit + 1]; unit++)
		number /= 1000;
	snprintf(ret_text, 64, "%.*f%c",
		 number < 10	? 2
		 : number < 100 ? 1
				: 0,
		 number, units[unit]);
}

void top_count(struct top *top, uint64_t count, uint32_t width)
{
	char text[64];

	count_text(top->meta, count, text);
	top_right(top, text, width);
}

uint32_t top_events(struct top *top, uint64_t events, bool head, uint32_t width)
{
	const struct profile_meta counted = { 0 };
	char text[64];

	if (!top->meta->summed)
		return 0;
	count_text(&counted, events, text);
	top_right(top, head ? quantity_events(top->meta) : text, width);
	return width;
}

void top_share(struct top *top, uint64_t count, uint32_t width)
{
	uint64_t total = top->profile->total;
	char text[32];

	snprintf(text, sizeof(text), "%.1f%%", total ? 100 * (double)count / (double)total : 0);
	top_right(top, text, width);
}

void top_change(struct top *top, uint64_t now, uint64_t before, uint32_t width)
{
	char text[65] = "";

	count_text(top->meta, now > before ? now - before : before - now, text + 1);
	text[0] = now > before ? '+' : now < before ? '-' : ' ';
	if (now != before)
		top_colour(top, now > before ? TOP_MORE : TOP_LESS);
	top_right(top, text, width);
	if (now != before)
		top_colour(top, TOP_PLAIN);
}

/* Cells that are left behind those in use; 0: any number. */
static uint32_t capacity(const struct top *top, uint32_t used)
{
	if (!top->cut)
		return 0;
	return used + 4 < top->width ? top->width - used : 4;
}

void top_last(struct top *top, const char *text, uint32_t used)
{
	fitted_put(&top->bytes, text, capacity(top, used));
	bytes_char(&top->bytes, '\n');
}

void top_wrap(struct top *top, const struct bytes *line)
{
	if (line->failed)
		top->bytes.failed = line->failed;
	else
		bytes_wrap(&top->bytes, line->start, line->used,
			   top->cut ? top->width : line->used);
}

void top_function(struct top *top, const struct names_frame *is, uint32_t used)
{
	uint32_t left = capacity(top, used),
		 taken = fitted_put(&top->bytes, frame_text_name(is), left);
	const char *module = is->module;

	/* Names that are made of the file say it already, as [libc.so.6+0x1234]. */
	if (module && *module && !(is->flags & NAMES_FRAME_IDENTITY) &&
	    (!left || taken + fitted_width(module, strlen(module)) + 3 <= left)) {
		bytes_string(&top->bytes, module[0] == '[' ? " " : " [");
		bytes_name(&top->bytes, module, strlen(module));
		bytes_string(&top->bytes, module[0] == '[' ? "" : "]");
	}
	bytes_char(&top->bytes, '\n');
}

void top_process_name(const struct process_row *row, char *ret_text, size_t size)
{
	if (row->n_processes > 1)
		snprintf(ret_text, size, "%s (%u pids)", row->name, row->n_processes);
	else if (row->n_processes)
		snprintf(ret_text, size, "%s (%u)", row->name, row->tgid);
	else
		snprintf(ret_text, size, "%s", row->name);
}

/* ---- processes ---- */

#define PROCESS_NUMBER 9u

/* The numbers in front of a process, and their head; returns the cells they take. */
static uint32_t process_numbers(struct top *top, const struct process_row *row, bool head)
{
	const char *unit = quantity_number_unit(top->meta);
	uint32_t used = 0;
	double cpus;
	char text[32];

	if (top->profile->base) {
		if (head) {
			bytes_string(&top->bytes, "   before      now   change");
			return 3 * PROCESS_NUMBER;
		}
		top_count(top, row->base_total, PROCESS_NUMBER);
		top_count(top, row->total, PROCESS_NUMBER);
		top_change(top, row->total, row->base_total, PROCESS_NUMBER);
		return 3 * PROCESS_NUMBER;
	}
	if (top->meta->timed) {
		static const char *const heads[] = { "running", "blocked", "waiting" };

		for (uint32_t i = top->meta->wall ? 0 : 1; i < ENTRY_N_STATES; i++) {
			if (head)
				top_right(top, heads[i], PROCESS_NUMBER);
			else
				top_count(top, row->by_state[i], PROCESS_NUMBER);
			used += PROCESS_NUMBER;
		}
		return used;
	}
	if (function_columns_cpus(top->meta, head ? 0 : row->total, &cpus)) {
		snprintf(text, sizeof(text), "%.2f", cpus);
		top_right(top, head ? "CPUs" : text, PROCESS_NUMBER);
	} else if (head) {
		top_right(top, strlen(unit) < PROCESS_NUMBER ? unit : "counts", PROCESS_NUMBER);
	} else {
		top_count(top, row->total, PROCESS_NUMBER);
	}
	if (head)
		top_right(top, "%", PROCESS_NUMBER - 2);
	else
		top_share(top, row->total, PROCESS_NUMBER - 2);
	return 2 * PROCESS_NUMBER - 2 + top_events(top, row->events, head, PROCESS_NUMBER);
}

static void gap(struct top *top)
{
	for (uint32_t i = 0; i < GAP; i++)
		bytes_char(&top->bytes, ' ');
}

static void process_head(struct top *top, uint32_t name)
{
	uint32_t used;

	bytes_char(&top->bytes, '\n');
	top_colour(top, TOP_HEAD);
	used = process_numbers(top, &(struct process_row){ 0 }, true);
	gap(top);
	fitted_fill(&top->bytes, top->processes.of_services ? "service" : "process", name);
	gap(top);
	top_last(top, top->meta->timed ? "waits mostly in" : "mostly in", used + 2 * GAP + name);
	top_colour(top, TOP_PLAIN);
}

/* The sum of the rows that are not shown. */
static void other_processes(struct top *top, uint32_t from)
{
	struct process_row others = { .function = ENTRY_NO_FRAME };
	uint32_t used;
	char text[64];

	for (uint32_t i = from; i < top->processes.n; i++) {
		const struct process_row *row = &top->processes.rows[i];

		others.total += row->total;
		others.events += row->events;
		others.base_total += row->base_total;
		for (int state = 0; state < ENTRY_N_STATES; state++)
			others.by_state[state] += row->by_state[state];
	}
	snprintf(text, sizeof(text), "%u other names", top->processes.n - from);
	used = process_numbers(top, &others, false);
	gap(top);
	top_last(top, text, used + GAP);
}

void top_put_processes(struct top *top)
{
	uint32_t n = top->processes.n, shown = n, name = top->meta->wall ? 20 : 26;
	char text[SERVICE_NAME_SIZE + 32];

	/* One more is as long as the line that says so. */
	if (shown > top->rows.processes + 1)
		shown = top->rows.processes;
	process_head(top, name);
	for (uint32_t i = 0; i < shown; i++) {
		const struct process_row *row = &top->processes.rows[i];
		uint32_t used = process_numbers(top, row, false);

		top_process_name(row, text, sizeof(text));
		gap(top);
		fitted_fill(&top->bytes, text, name);
		gap(top);
		if (row->function != ENTRY_NO_FRAME)
			top_last(top, frame_text_name(&top->profile->frames[row->function].is),
				 used + 2 * GAP + name);
		else
			top_last(top, "-", used + 2 * GAP + name);
	}
	if (shown < n)
		other_processes(top, shown);
}
