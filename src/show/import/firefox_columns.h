/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of a thread in the Firefox Profiler's processed format, column by column. Newer
 * versions of the format have them once for all threads.
 */
#ifndef STACKTALLY_IMPORT_FIREFOX_COLUMNS_H
#define STACKTALLY_IMPORT_FIREFOX_COLUMNS_H

#include "import/json_stacks.h"

enum firefox_column_id {
	FIREFOX_STACK_PREFIX, /* a smaller stack, or JSON_NONE */
	FIREFOX_STACK_FRAME,
	FIREFOX_FRAME_FUNC,
	FIREFOX_FRAME_LINE,
	FIREFOX_FUNC_NAME, /* a string, as the following */
	FIREFOX_FUNC_RESOURCE,
	FIREFOX_FUNC_FILE,
	FIREFOX_RESOURCE_NAME,
	FIREFOX_N_COLUMNS,
};

struct firefox_columns {
	struct json_list columns[FIREFOX_N_COLUMNS];
	const char **strings; /* in the pool; NULL: no string */
	uint32_t n_strings, string_capacity;
	uint32_t *ids; /* of each frame: its address, or JSON_NONE until it is needed */
};

/* Reads the tables that the object has; others stay. 0 or a negative errno. */
int firefox_columns_read(struct firefox_columns *tables, struct json_stacks *stacks,
			 struct json_reader json);
void firefox_columns_clear(struct firefox_columns *tables);
/* Whether there are stacks. */
bool firefox_columns_are_there(const struct firefox_columns *tables);

/* The frames of a stack, leaf first, in the buffer of `stacks`. -EBADMSG, or another negative
 * errno. */
int firefox_columns_stack(struct firefox_columns *tables, struct json_stacks *stacks,
			  uint32_t stack, uint32_t *ret_n, bool *ret_cut);

#endif
