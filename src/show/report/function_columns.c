// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/function_columns.h"

#include <stdio.h>
#include <string.h>

#include "view/frame_text.h"
#include "view/quantity.h"

/* pprof's names are the second ones. */
static const char *const names[N_COLUMNS][2] = {
	[COLUMN_SELF] = { "self", "flat" },
	[COLUMN_SELF_SHARE] = { "self%", "flat%" },
	[COLUMN_TOTAL] = { "total", "cum" },
	[COLUMN_TOTAL_SHARE] = { "total%", "cum%" },
	[COLUMN_SELF_CPUS] = { "self-cpus", "cpus" },
	[COLUMN_TOTAL_CPUS] = { "total-cpus", "cum-cpus" },
	[COLUMN_EVENTS] = { "events", "events" },
	[COLUMN_SELF_BEFORE] = { "self-before", "before" },
	[COLUMN_SELF_CHANGE] = { "self-change", "change" },
	[COLUMN_TOTAL_BEFORE] = { "total-before", "cum-before" },
	[COLUMN_TOTAL_CHANGE] = { "total-change", "cum-change" },
	[COLUMN_FUNCTION] = { "function", "name" },
	[COLUMN_MODULE] = { "module", "module" },
	[COLUMN_FILE] = { "file", "file" },
};

const char *function_column_name(enum function_column column)
{
	return names[column][0];
}

static bool has_unit(enum function_column column, const struct profile_meta *meta)
{
	switch (column) {
	case COLUMN_SELF:
	case COLUMN_TOTAL:
	case COLUMN_SELF_BEFORE:
	case COLUMN_SELF_CHANGE:
	case COLUMN_TOTAL_BEFORE:
	case COLUMN_TOTAL_CHANGE:
		return meta->timed || meta->measure || meta->unit;
	default:
		return false;
	}
}

void function_column_put_head(struct bytes *bytes, enum function_column column,
			      const struct profile_meta *meta)
{
	bytes_string(bytes, names[column][0]);
	if (has_unit(column, meta)) {
		bytes_char(bytes, '-');
		bytes_string(bytes, quantity_number_unit(meta));
	}
}

/* N_COLUMNS: there is none of this name. */
static enum function_column column_of(const char *name, size_t size)
{
	enum function_column column = 0;

	while (column < N_COLUMNS &&
	       (strlen(names[column][0]) != size || memcmp(names[column][0], name, size) != 0) &&
	       (strlen(names[column][1]) != size || memcmp(names[column][1], name, size) != 0))
		column++;
	return column;
}

static int no_such(const char *option, const char *name, size_t size, struct error *err)
{
	return error_usage(err, "argument %s: no column '%.*s' (choose from %s)", option,
			   (int)(size < 40 ? size : 40), name, FUNCTION_COLUMNS);
}

int function_columns_parse(const char *text, struct function_columns *ret_columns,
			   struct error *err)
{
	struct function_columns columns = { 0 };

	for (;;) {
		size_t size = strcspn(text, ",");
		enum function_column column = column_of(text, size);

		if (column == N_COLUMNS)
			return no_such("--columns", text, size, err);
		if (columns.n == N_COLUMNS)
			return error_usage(err, "argument --columns: more columns than there are");
		columns.list[columns.n++] = column;
		if (!text[size])
			break;
		text += size + 1;
	}
	*ret_columns = columns;
	return 0;
}

int function_columns_order(const char *name, bool of_difference, enum function_order *ret_order,
			   struct error *err)
{
	enum function_column column = of_difference ? COLUMN_SELF_CHANGE : COLUMN_SELF;

	if (name)
		column = column_of(name, strlen(name));
	switch (column) {
	case COLUMN_SELF:
	case COLUMN_SELF_SHARE:
	case COLUMN_SELF_CPUS:
		*ret_order = FUNCTIONS_BY_SELF;
		return 0;
	case COLUMN_TOTAL:
	case COLUMN_TOTAL_SHARE:
	case COLUMN_TOTAL_CPUS:
		*ret_order = FUNCTIONS_BY_TOTAL;
		return 0;
	case COLUMN_SELF_CHANGE:
		*ret_order = FUNCTIONS_BY_SELF_CHANGE;
		return 0;
	case COLUMN_TOTAL_CHANGE:
		*ret_order = FUNCTIONS_BY_TOTAL_CHANGE;
		return 0;
	case COLUMN_FUNCTION:
		*ret_order = FUNCTIONS_BY_NAME;
		return 0;
	default:
		return error_usage(err,
				   "argument --sort: cannot sort by '%.40s' (choose from self "
				   "total self-change total-change function)",
				   name);
	}
}

void function_columns_usual(const struct profile *profile, bool text,
			    struct function_columns *ret_columns)
{
	static const struct function_columns plain = {
		{ COLUMN_SELF, COLUMN_SELF_SHARE, COLUMN_TOTAL, COLUMN_TOTAL_SHARE, COLUMN_FUNCTION,
		  COLUMN_MODULE, COLUMN_FILE },
		7,
	};
	static const struct function_columns summed = {
		{ COLUMN_SELF, COLUMN_SELF_SHARE, COLUMN_TOTAL, COLUMN_TOTAL_SHARE, COLUMN_EVENTS,
		  COLUMN_FUNCTION, COLUMN_MODULE, COLUMN_FILE },
		8,
	};
	static const struct function_columns difference = {
		{ COLUMN_SELF_BEFORE, COLUMN_SELF, COLUMN_SELF_CHANGE, COLUMN_TOTAL_BEFORE,
		  COLUMN_TOTAL, COLUMN_TOTAL_CHANGE, COLUMN_FUNCTION, COLUMN_MODULE, COLUMN_FILE },
		9,
	};

	*ret_columns = profile->base ? difference : profile->meta->summed ? summed : plain;
	if (text)
		ret_columns->n -= 2; /* the text has the module behind the function */
}

int function_columns_check(const struct function_columns *columns, const struct profile *profile,
			   struct error *err)
{
	for (uint32_t i = 0; i < columns->n; i++) {
		enum function_column column = columns->list[i];

		if (!profile->base &&
		    (column == COLUMN_SELF_BEFORE || column == COLUMN_SELF_CHANGE ||
		     column == COLUMN_TOTAL_BEFORE || column == COLUMN_TOTAL_CHANGE))
			return error_usage(err,
					   "argument --columns: %s is of a difference: use "
					   "--diff BASE",
					   names[column][0]);
		if (column == COLUMN_EVENTS && !profile->meta->summed)
			return error_usage(err,
					   "argument --columns: %s is of sums: measure with --time",
					   names[column][0]);
	}
	return 0;
}

bool function_columns_cpus(const struct profile_meta *meta, uint64_t count, double *ret_cpus)
{
	uint64_t ns = profile_sample_ns(meta);

	if (!ns || !meta->duration_ns || meta->unit)
		return false;
	*ret_cpus = (double)count * (double)ns / (double)meta->duration_ns;
	return true;
}

static void put_number(struct bytes *bytes, const struct profile_meta *meta, uint64_t count,
		       bool bare)
{
	if (bare)
		bytes_decimal(bytes, quantity_number(meta, count));
	else
		quantity_put_bare(bytes, meta, count);
}

static void put_events(struct bytes *bytes, uint64_t events, bool bare)
{
	const struct profile_meta counted = { 0 };

	put_number(bytes, &counted, events, bare);
}

static void put_change(struct bytes *bytes, const struct profile_meta *meta, uint64_t now,
		       uint64_t base, bool bare)
{
	if (now != base)
		bytes_char(bytes, now > base ? '+' : '-');
	put_number(bytes, meta, now > base ? now - base : base - now, bare);
}

static void put_share(struct bytes *bytes, uint64_t count, uint64_t total, bool bare)
{
	char text[32];

	snprintf(text, sizeof(text), bare ? "%.4f" : "%.1f%%",
		 total ? 100 * (double)count / (double)total : 0);
	bytes_string(bytes, text);
}

static void put_cpus(struct bytes *bytes, const struct profile_meta *meta, uint64_t count,
		     bool bare)
{
	double cpus;
	char text[32];

	if (!function_columns_cpus(meta, count, &cpus))
		return;
	snprintf(text, sizeof(text), bare ? "%.6f" : "%.2f", cpus);
	bytes_string(bytes, text);
}

static void put_text(struct bytes *bytes, const char *text)
{
	if (text)
		bytes_name(bytes, text, strlen(text));
}

void function_column_put(struct bytes *bytes, enum function_column column,
			 const struct profile *profile, const struct function_row *row, bool bare)
{
	const struct profile_meta *meta = profile->meta;

	switch (column) {
	case COLUMN_SELF:
		put_number(bytes, meta, row->self, bare);
		break;
	case COLUMN_SELF_SHARE:
		put_share(bytes, row->self, profile->total, bare);
		break;
	case COLUMN_TOTAL:
		put_number(bytes, meta, row->total, bare);
		break;
	case COLUMN_TOTAL_SHARE:
		put_share(bytes, row->total, profile->total, bare);
		break;
	case COLUMN_SELF_CPUS:
		put_cpus(bytes, meta, row->self, bare);
		break;
	case COLUMN_TOTAL_CPUS:
		put_cpus(bytes, meta, row->total, bare);
		break;
	case COLUMN_EVENTS:
		put_events(bytes, row->events, bare);
		break;
	case COLUMN_SELF_BEFORE:
		put_number(bytes, meta, row->base_self, bare);
		break;
	case COLUMN_SELF_CHANGE:
		put_change(bytes, meta, row->self, row->base_self, bare);
		break;
	case COLUMN_TOTAL_BEFORE:
		put_number(bytes, meta, row->base_total, bare);
		break;
	case COLUMN_TOTAL_CHANGE:
		put_change(bytes, meta, row->total, row->base_total, bare);
		break;
	case COLUMN_FUNCTION:
		put_text(bytes, frame_text_name(row->is));
		break;
	case COLUMN_MODULE:
		put_text(bytes, row->is->module);
		break;
	case COLUMN_FILE:
		put_text(bytes, function_row_file(row));
		break;
	case N_COLUMNS:
		break;
	}
}
