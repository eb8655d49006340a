/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The columns that a table of functions can have (--columns), with the names that --sort and the
 * heads of CSV files know, and pprof's.
 */
#ifndef STACKTALLY_REPORT_FUNCTION_COLUMNS_H
#define STACKTALLY_REPORT_FUNCTION_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "view/function_list.h"

enum function_column {
	COLUMN_SELF,
	COLUMN_SELF_SHARE,
	COLUMN_TOTAL,
	COLUMN_TOTAL_SHARE,
	COLUMN_SELF_CPUS,
	COLUMN_TOTAL_CPUS,
	COLUMN_EVENTS, /* of sums: how many values `total` is of */
	/* For a difference: */
	COLUMN_SELF_BEFORE,
	COLUMN_SELF_CHANGE,
	COLUMN_TOTAL_BEFORE,
	COLUMN_TOTAL_CHANGE,
	COLUMN_FUNCTION,
	COLUMN_MODULE,
	COLUMN_FILE,
	N_COLUMNS,
};

struct function_columns {
	enum function_column list[N_COLUMNS];
	uint32_t n;
};

#define FUNCTION_COLUMNS                                                                           \
	"self self% total total% self-cpus total-cpus events self-before self-change "             \
	"total-before total-change function module file"

const char *function_column_name(enum function_column column);

/* The head of a column for a program: its name and, where numbers are no plain counts of samples or
 * events, their unit: "self-us". */
void function_column_put_head(struct bytes *bytes, enum function_column column,
			      const struct profile_meta *meta);

/* Whether it has text and no number: left-aligned, last in tables. */
static inline bool function_column_is_text(enum function_column column)
{
	return column >= COLUMN_FUNCTION;
}

/* Names with commas between them. 0, or a usage error. */
int function_columns_parse(const char *names, struct function_columns *ret_columns,
			   struct error *err);

/* --sort. NULL: by self, or by its change in a difference. 0, or a usage error. */
int function_columns_order(const char *name, bool of_difference, enum function_order *ret_order,
			   struct error *err);

/* What a table of the profile has without --columns; `text`: for a terminal. */
void function_columns_usual(const struct profile *profile, bool text,
			    struct function_columns *ret_columns);

/* An error if a column is of a difference, and the profile is none. */
int function_columns_check(const struct function_columns *columns, const struct profile *profile,
			   struct error *err);

/*
 * The cell of a row. For a program (`bare`), numbers are without commas, units and per cent signs,
 * and times are in us; for a reader they have all of these. Text is clean, and not quoted.
 */
void function_column_put(struct bytes *bytes, enum function_column column,
			 const struct profile *profile, const struct function_row *row, bool bare);

/* CPUs that a count stands for; false if samples do not stand for time. */
bool function_columns_cpus(const struct profile_meta *meta, uint64_t count, double *ret_cpus);

#endif
