// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/function_rows.h"

#include <string.h>

#include "base/own.h"
#include "report/function_columns.h"

struct rows {
	const struct profile *profile;
	struct function_columns columns;
	enum function_order order;
	struct function_list list;
	struct bytes bytes, cell;
	char separator;
};

uint32_t function_rows_view(const struct report_options *options)
{
	uint32_t view = PROFILE_VIEW_PROCESS | PROFILE_VIEW_MODULE | PROFILE_VIEW_OBJECT;

	return options->show_cgroup ? view | PROFILE_VIEW_CGROUP : view;
}

/* Names are untrusted, and a spreadsheet would compute some: it shows what is behind a "'". */
static void guard(struct bytes *cell, char separator)
{
	if (separator == ',' && cell->used && strchr("=+-@", cell->start[0])) {
		bytes_char(cell, ' ');
		if (cell->failed)
			return;
		memmove(cell->start + 1, cell->start, cell->used - 1);
		cell->start[0] = '\'';
	}
}

static void put_cell(struct rows *rows, const char *text, size_t size)
{
	bool quoted =
		rows->separator == ',' && (memchr(text, ',', size) || memchr(text, '"', size));

	if (quoted)
		bytes_char(&rows->bytes, '"');
	for (size_t i = 0; i < size; i++) {
		if (quoted && text[i] == '"')
			bytes_char(&rows->bytes, '"');
		bytes_char(&rows->bytes, text[i]);
	}
	if (quoted)
		bytes_char(&rows->bytes, '"');
}

static void put_row(struct rows *rows, const struct function_row *row)
{
	for (uint32_t i = 0; i < rows->columns.n; i++) {
		enum function_column column = rows->columns.list[i];

		if (i > 0)
			bytes_char(&rows->bytes, rows->separator);
		rows->cell.used = 0;
		if (row)
			function_column_put(&rows->cell, column, rows->profile, row, true);
		else
			function_column_put_head(&rows->cell, column, rows->profile->meta);
		if (row && function_column_is_text(column))
			guard(&rows->cell, rows->separator);
		if (rows->cell.used)
			put_cell(rows, rows->cell.start, rows->cell.used);
	}
	bytes_char(&rows->bytes, '\n');
}

static int prepare(struct rows *rows, const struct report_options *options, struct error *err)
{
	bool compared = rows->profile->base != NULL;
	int r;

	function_columns_usual(rows->profile, false, &rows->columns);
	r = function_columns_order(options->sort, compared, &rows->order, err);
	if (r == 0 && options->columns)
		r = function_columns_parse(options->columns, &rows->columns, err);
	return r < 0 ? r : function_columns_check(&rows->columns, rows->profile, err);
}

static int put_all(struct rows *rows, uint32_t n)
{
	int r = function_list_make(rows->profile, &rows->list);

	if (r < 0)
		return r;
	function_list_sort(&rows->list, rows->order);
	put_row(rows, NULL);
	for (uint32_t i = 0; !rows->bytes.failed && i < rows->list.n && (!n || i < n); i++)
		put_row(rows, &rows->list.rows[i]);
	return rows->cell.failed ? rows->cell.failed : bytes_finish(&rows->bytes);
}

int function_rows_write(const struct report *report, char separator, FILE *out, struct error *err)
{
	struct rows rows = { .profile = report->profile, .separator = separator };
	int r = prepare(&rows, report->options, err);

	if (r < 0)
		return r;
	bytes_start(&rows.bytes, out);
	bytes_start(&rows.cell, NULL);
	r = put_all(&rows, report->options->rows);
	function_list_clear(&rows.list);
	bytes_clear(&rows.cell);
	bytes_clear(&rows.bytes);
	return report_result(r, err);
}
