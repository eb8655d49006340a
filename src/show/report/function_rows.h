/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of functions for programs: CSV and TSV. One head line with the names of the columns,
 * then a line for each function.
 */
#ifndef STACKTALLY_REPORT_FUNCTION_ROWS_H
#define STACKTALLY_REPORT_FUNCTION_ROWS_H

#include <stdio.h>

#include "report/report.h"

/* The view of tables of functions and processes. */
uint32_t function_rows_view(const struct report_options *options);

/*
 * `separator`: a comma, after which cells are quoted as RFC 4180 has it, or a tab, which no cell
 * contains. 0 or a negative errno with `err` set.
 */
int function_rows_write(const struct report *report, char separator, FILE *out, struct error *err);

#endif
