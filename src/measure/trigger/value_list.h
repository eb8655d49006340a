/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list of values by name, beside which all events have those of the thread and the CPU: comm,
 * common_pid and cpu, as perf's filters have it.
 */
#ifndef STACKTALLY_TRIGGER_VALUE_LIST_H
#define STACKTALLY_TRIGGER_VALUE_LIST_H

#include "expression/event_value.h"

#define VALUE_NAME_SIZE 64
#define VALUES_MAX	256 /* in a list; more are left out */

struct named_value {
	char name[VALUE_NAME_SIZE];
	struct event_value value;
};

struct value_list {
	struct named_value *list;
	uint32_t n, capacity;
};

/* 0 or -ENOMEM. */
int value_list_add(struct value_list *values, const char *name, const struct event_value *value);
/* Zeros are allowed. */
void value_list_clear(struct value_list *values);

/* Drops the values that the others do not have in the same place. */
void value_list_keep_common(struct value_list *values, const struct value_list *others);

/* Borrows the list. */
struct event_values value_list_values(const struct value_list *values);

#endif
