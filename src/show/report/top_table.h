/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the table that --top prints (report/top.c). Internal to that format.
 */
#ifndef STACKTALLY_REPORT_TOP_TABLE_H
#define STACKTALLY_REPORT_TOP_TABLE_H

#include "base/bytes.h"
#include "report/function_columns.h"
#include "report/report.h"
#include "view/process_list.h"
#include "view/waker_list.h"

/* Rows of each part. */
struct top_rows {
	uint32_t processes, by_self, by_total, stacks, wakers;
};

struct top {
	const struct report *report;
	const struct profile *profile;
	const struct profile_meta *meta;
	struct bytes bytes; /* without a stream: the table is small */
	uint32_t width;	    /* of the terminal, or 80 */
	bool cut;	    /* the last column, too, ends at `width` */
	bool colours;
	struct top_rows rows;
	struct process_list processes;
	struct function_list functions;
	struct waker_list wakers;
};

enum top_colour {
	TOP_PLAIN,
	TOP_HEAD,
	TOP_MORE, /* of a difference */
	TOP_LESS,
};

void top_colour(struct top *top, enum top_colour colour);

/* A line in the colour of heads. */
void top_head(struct top *top, const char *text);

/* Right-aligned in `width` cells. */
void top_right(struct top *top, const char *text, uint32_t width);

/* A count, a share of all counts, or a signed change, for a reader. */
void top_count(struct top *top, uint64_t count, uint32_t width);
void top_share(struct top *top, uint64_t count, uint32_t width);
/* Of sums: the number of events, or its head. Returns the cells that this takes: none otherwise. */
uint32_t top_events(struct top *top, uint64_t events, bool head, uint32_t width);
void top_change(struct top *top, uint64_t now, uint64_t before, uint32_t width);

/* The last text of a line that has `used` cells already, and the end of the line. */
void top_last(struct top *top, const char *text, uint32_t used);

/* A line of words, broken where the terminal ends; without the end of the last. */
void top_wrap(struct top *top, const struct bytes *line);

/* "name [module]", where both have room; with `used` as above, and the end of the line. */
void top_function(struct top *top, const struct names_frame *is, uint32_t used);

/* "cc1 (61 pids)", "postgres (1234)" */
void top_process_name(const struct process_row *row, char *ret_text, size_t size);

/* Each puts a blank line and its part, or nothing if that has no rows. */
void top_put_processes(struct top *top);
void top_put_functions(struct top *top);
void top_put_wakers(struct top *top);
void top_put_stacks(struct top *top);

/* Only functions, with these columns. */
void top_put_columns(struct top *top, const struct function_columns *columns);

#endif
