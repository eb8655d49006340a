/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The values of an event by name, as a trigger knows them: where the BPF program finds each. Plain
 * data.
 */
#ifndef STACKTALLY_EXPRESSION_EVENT_VALUE_H
#define STACKTALLY_EXPRESSION_EVENT_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum event_value_kind {
	EVENT_VALUE_CONTEXT,  /* `size` bytes of the program's context, from `offset` on */
	EVENT_VALUE_MEMORY,   /* of user memory, `number` behind the address at `offset` */
	EVENT_VALUE_CONSTANT, /* `number` */
	EVENT_VALUE_ARRAY,    /* a string in an array of `size` bytes at `offset` */
	EVENT_VALUE_LOCATION, /* a string whose place in the context is at `offset`: __data_loc */
	EVENT_VALUE_CPU,      /* the number of the CPU */
	EVENT_VALUE_THREAD,   /* the id of the thread */
	EVENT_VALUE_COMM,     /* the name of the thread: a string */
};

/* What an address points to, where it is compared with a string. */
enum event_value_text {
	EVENT_TEXT_NONE,
	EVENT_TEXT_USER,
	EVENT_TEXT_KERNEL,
};

/* A second register of an address of user memory. */
struct event_value_index {
	uint32_t offset; /* in the context */
	uint32_t scale;	 /* 0: there is none */
};

struct event_value {
	enum event_value_kind kind;
	enum event_value_text text;
	uint32_t offset, size;
	int64_t number;
	struct event_value_index index;
	bool is_signed;
	const char *unit; /* "bytes", "nanoseconds"; NULL: not known */
};

/* The values that a trigger's events have. */
struct event_values {
	/* 0; -ENOENT: there is none of this name; or another negative errno with `err` set. */
	int (*find)(const void *context, const char *name, struct event_value *ret_value,
		    struct error *err);
	/* Calls `each` for the name of each. */
	void (*list)(const void *context, void (*each)(void *to, const char *name), void *to);
	const void *context;
};

/* Whether it is a string, and no number. */
static inline bool event_value_is_text(const struct event_value *value)
{
	return value->kind == EVENT_VALUE_ARRAY || value->kind == EVENT_VALUE_LOCATION ||
	       value->kind == EVENT_VALUE_COMM;
}

#endif
