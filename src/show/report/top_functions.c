// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables of functions and of wakers, and the hottest stacks. */
#include <errno.h>
#include <string.h>

#include "base/own.h"
#include "report/fitted_text.h"
#include "report/top_table.h"
#include "view/frame_text.h"
#include "view/quantity.h"

#define NUMBER 9u
#define SHARE  7u
#define CHANGE 8u
#define GAP    2u

/* What nearly all stacks of a process have says no more than the process: main(). */
#define NEARLY_ALL 0.9

#define STACK_LINES  2u
#define STACK_INDENT 2u
#define STACK_END    3u

static void gap(struct top *top)
{
	for (uint32_t i = 0; i < GAP; i++)
		bytes_char(&top->bytes, ' ');
}

static void put_function(struct top *top, const struct function_row *row)
{
	uint32_t used = 2 * NUMBER + 2 * SHARE + GAP;

	if (top->profile->base) {
		top_count(top, row->base_self, CHANGE);
		top_count(top, row->self, CHANGE);
		top_change(top, row->self, row->base_self, CHANGE);
		top_count(top, row->base_total, CHANGE);
		top_count(top, row->total, CHANGE);
		top_change(top, row->total, row->base_total, CHANGE);
		gap(top);
		top_function(top, row->is, 6 * CHANGE + GAP);
		return;
	}
	top_count(top, row->self, NUMBER);
	top_share(top, row->self, SHARE);
	top_count(top, row->total, NUMBER);
	top_share(top, row->total, SHARE);
	used += top_events(top, row->events, false, NUMBER);
	gap(top);
	top_function(top, row->is, used);
}

static void head_of_functions(struct top *top, const char *order)
{
	char text[100];

	bytes_char(&top->bytes, '\n');
	if (top->profile->base)
		snprintf(text, sizeof(text), "%8s%8s%8s%8s%8s%8s  function, by %s", "before",
			 "self", "change", "before", "total", "change", order);
	else
		snprintf(text, sizeof(text), "%9s%7s%9s%7s%*s  function, by %s", "self", "%",
			 "total", "%", top->meta->summed ? 9 : 0,
			 top->meta->summed ? quantity_events(top->meta) : "", order);
	top_head(top, text);
}

/* Whether it tells something that the process and the functions by self do not. */
static bool tells_by_total(const struct function_row *row)
{
	return !entry_is_common_frame(row->is) && !(row->is->flags & NAMES_FRAME_IDENTITY) &&
	       (double)row->total < NEARLY_ALL * (double)row->within;
}

static bool is_among(const struct function_row *row, const struct names_frame *const *shown,
		     uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (shown[i] == row->is)
			return true;
	return false;
}

/* The functions above, which have another order now, are not repeated. */
static void put_by_total(struct top *top, const struct names_frame *const *shown, uint32_t n_shown)
{
	struct function_list *list = &top->functions;
	uint32_t n = 0;

	function_list_sort(list, FUNCTIONS_BY_TOTAL);
	for (uint32_t i = 0; i < list->n && n < top->rows.by_total; i++) {
		const struct function_row *row = &list->rows[i];

		if (!tells_by_total(row) || is_among(row, shown, n_shown))
			continue;
		if (n++ == 0)
			head_of_functions(top, "total");
		put_function(top, row);
	}
}

/* How many of the functions by self are shown: none that had nothing itself. */
static uint32_t with_self(const struct top *top)
{
	const struct function_list *list = &top->functions;
	uint32_t n = 0;

	while (n < list->n && n < top->rows.by_self &&
	       (top->profile->base ? list->rows[n].total != list->rows[n].base_total ||
					     list->rows[n].self != list->rows[n].base_self
				   : list->rows[n].self > 0))
		n++;
	return n;
}

void top_put_functions(struct top *top)
{
	uint32_t n = with_self(top);
	own(own_free) const struct names_frame **shown = calloc(n + 1, sizeof(*shown));

	if (!shown) {
		top->bytes.failed = -ENOMEM;
		return;
	}
	if (n)
		head_of_functions(top, top->profile->base ? "change" : "self");
	for (uint32_t i = 0; i < n; i++) {
		shown[i] = top->functions.rows[i].is;
		put_function(top, &top->functions.rows[i]);
	}
	if (!top->profile->base && !top->wakers.n)
		put_by_total(top, shown, n);
}

void top_put_wakers(struct top *top)
{
	const struct profile_frame *frames = top->profile->frames;

	for (uint32_t i = 0; i < top->wakers.n && i < top->rows.wakers; i++) {
		const struct waker_row *row = &top->wakers.rows[i];

		if (i == 0) {
			bytes_char(&top->bytes, '\n');
			top_head(top, "    waits      %  ended by           in");
		}
		top_count(top, row->total, NUMBER);
		top_share(top, row->total, SHARE);
		gap(top);
		fitted_fill(&top->bytes, frame_text_name(&frames[row->name].is), 17);
		gap(top);
		if (row->function == ENTRY_NO_FRAME)
			top_last(top, "", NUMBER + SHARE + 17 + 2 * GAP);
		else
			top_function(top, &frames[row->function].is, NUMBER + SHARE + 17 + 2 * GAP);
	}
}

/* ---- stacks ---- */

struct stack_line {
	struct top *top;
	uint32_t lines, used; /* lines begun, and cells of the last one */
	bool full;
};

/* Puts a name, on the next line if this one has no room; false: there is no next line. */
static bool put_step(struct stack_line *line, const char *name)
{
	struct bytes *bytes = &line->top->bytes;
	/* Less what ends a line: " <-", or " .." behind the last name. */
	uint32_t width = line->top->width - STACK_INDENT - STACK_END;
	const char *arrow = line->lines ? " <- " : "";
	size_t start = bytes->used;
	uint32_t cells = (uint32_t)strlen(arrow);

	bytes_string(bytes, arrow);
	cells += fitted_put(bytes, name, width / 2);
	if (line->lines && line->used + cells <= width) {
		line->used += cells;
		return true;
	}
	bytes->used = start;
	if (line->lines == STACK_LINES)
		return false;
	bytes_string(bytes, line->lines ? " <-\n  " : "  ");
	line->used = fitted_put(bytes, name, width / 2);
	line->lines++;
	return true;
}

/* The frames of an entry from the innermost outwards, without marks. */
static uint32_t frame_at(const struct profile_entry *entry, const struct entry_parts *parts,
			 uint32_t i)
{
	return i < parts->n_kernel ? parts->kernel[i] : entry->user[i - parts->n_kernel];
}

/*
 * One frame of the kernel, libc or an interpreter stands for those that follow it, up to the next
 * function of the program. Of a stack without such a function those of the kernel alone are
 * shortened, if there are others.
 */
static void put_stack(struct top *top, const struct tally_entry *of)
{
	struct profile_entry entry;
	struct entry_parts parts;
	uint32_t n, in_row = 0;
	bool of_program = false; /* it has such a function */
	struct stack_line line = { .top = top };

	profile_read(top->profile, of, &entry);
	parts = entry_parts(top->profile, &entry);
	n = parts.n_kernel + entry.n_user;
	for (uint32_t i = 0; i < n && !of_program; i++)
		of_program = !entry_is_common_frame(
			&top->profile->frames[frame_at(&entry, &parts, i)].is);
	for (uint32_t i = 0; i < n; i++) {
		const struct names_frame *is =
			&top->profile->frames[frame_at(&entry, &parts, i)].is;
		bool passed = of_program ? entry_is_common_frame(is)
					 : i < parts.n_kernel && entry.n_user > 0;

		in_row = passed ? in_row + 1 : 0;
		if (in_row > 2)
			continue;
		if (!put_step(&line, in_row == 2 ? ".." : frame_text_name(is))) {
			bytes_string(&top->bytes, " ..");
			break;
		}
	}
	bytes_string(&top->bytes, n ? "\n" : "  [no stack]\n");
}

void top_put_stacks(struct top *top)
{
	char name[SERVICE_NAME_SIZE + 32], text[SERVICE_NAME_SIZE + 200], count[QUANTITY_SIZE];

	for (uint32_t i = 0; i < top->processes.n && i < top->rows.stacks; i++) {
		const struct process_row *row = &top->processes.rows[i];
		double total = top->profile->total ? (double)top->profile->total : 1;

		if (!row->heaviest)
			continue;
		if (i == 0)
			bytes_char(&top->bytes, '\n');
		top_process_name(row, name, sizeof(name));
		quantity_text(top->meta, row->heaviest->count, count);
		snprintf(text, sizeof(text), "hottest stack of %s: %s, %.1f%%", name, count,
			 100 * (double)row->heaviest->count / total);
		top_head(top, text);
		put_stack(top, row->heaviest);
	}
}

/* ---- chosen columns ---- */

#define COLUMN 12u

void top_put_columns(struct top *top, const struct function_columns *columns)
{
	uint32_t n = top->functions.n, rows = top->report->options->rows;

	if (rows && rows < n)
		n = rows;
	else if (!rows && top->cut && n > top->width / 2)
		n = 32;
	for (uint32_t i = 0; i <= n; i++) {
		uint32_t used = 0;

		if (i == 0)
			top_colour(top, TOP_HEAD);
		for (uint32_t j = 0; j < columns->n; j++) {
			enum function_column column = columns->list[j];
			own(bytes_clear) struct bytes cell = { 0 };

			bytes_start(&cell, NULL);
			if (i == 0)
				bytes_string(&cell, function_column_name(column));
			else
				function_column_put(&cell, column, top->profile,
						    &top->functions.rows[i - 1], false);
			bytes_char(&cell, '\0');
			if (cell.failed)
				continue;
			if (function_column_is_text(column)) {
				if (j > 0)
					gap(top);
				used += j > 0 ? GAP : 0;
				if (j + 1 == columns->n) {
					top_last(top, cell.start, used);
					continue;
				}
				fitted_fill(&top->bytes, cell.start, 2 * COLUMN);
				used += 2 * COLUMN;
			} else {
				top_right(top, cell.start, COLUMN);
				used += COLUMN;
				if (j + 1 == columns->n)
					bytes_char(&top->bytes, '\n');
			}
		}
		if (i == 0)
			top_colour(top, TOP_PLAIN);
	}
}
