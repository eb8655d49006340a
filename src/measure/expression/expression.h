/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expressions about an event (--if, --sum), compiled to the steps that the BPF programs evaluate
 * (bpf/expression_wire.h):
 *
 *   names of values, numbers (10, 0x1f, 017), "strings" or 'strings'
 *   * / %   + -   << >>   &   ^   |   as in C, but & | ^ before comparisons
 *   == != < <= > >=   == != ~ !~ of strings: ~ with the wildcards * ? [a-z]
 *   !   of the whole comparison behind it   &&   ||   ( )   (int)x and the like
 *
 * Filters of perf and ftrace mean the same here. Numbers have 64 bits; a comparison is unsigned if
 * a side is an unsigned number of 64 bits. Must not know: what has values, and how they are read.
 */
#ifndef STACKTALLY_EXPRESSION_EXPRESSION_H
#define STACKTALLY_EXPRESSION_EXPRESSION_H

#include "bpf/expression_wire.h"
#include "expression/event_value.h"

#define EXPRESSION_SIZE 1024 /* characters of an expression, at most */

enum expression_kind {
	EXPRESSION_CONDITION, /* --if */
	EXPRESSION_VALUE,     /* --sum */
};

/* Whether a name is one of its words, also of a text that is no expression. */
bool expression_has_name(const char *text, const char *name);

/*
 * Compiles an expression to its program in `expressions`, with its patterns behind those that are
 * there. *ret_unit is that of a value, or NULL; it may be NULL. 0, or a usage error: -EINVAL with
 * `err` set, whose text begins with "argument --if: ".
 */
int expression_compile(enum expression_kind kind, const char *text,
		       const struct event_values *values, struct wire_expressions *expressions,
		       const char **ret_unit, struct error *err);

#endif
