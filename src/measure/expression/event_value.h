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
	EVENT_VALUE_BY_SITE,  /* of `sites`, that of the place in the code where the event is */
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
	/* With EVENT_VALUE_BY_SITE, of which `offset` is that of the instruction's address. */
	const struct event_value_site *sites;
	uint32_t n_sites;
};

/*
 * A place in code of which events tell a value in their own way. Those of the same way are one
 * after another; where no other site is, the last one's way holds. A page is mapped anywhere, but
 * as a whole: the lower bits of an address are known before a program runs.
 */
struct event_value_site {
	uint32_t in_page; /* address & EVENT_VALUE_IN_PAGE; different from those of other ways */
	struct event_value value; /* not by site */
};

#define EVENT_VALUE_IN_PAGE 0xfffu

/* The values that a trigger's events have. */
struct event_values {
	/* 0; -ENOENT: there is none of this name; or another negative errno with `err` set. */
	int (*find)(const void *context, const char *name, struct event_value *ret_value,
		    struct error *err);
	/* Calls `each` for the name of each. */
	void (*list)(const void *context, void (*each)(void *to, const char *name), void *to);
	const void *context;
};

/* Whether both are read in the same way, from the same place; neither is by site. */
static inline bool event_value_is_alike(const struct event_value *a, const struct event_value *b)
{
	return a->kind == b->kind && a->text == b->text && a->offset == b->offset &&
	       a->size == b->size && a->number == b->number && a->is_signed == b->is_signed &&
	       a->index.offset == b->index.offset && a->index.scale == b->index.scale;
}

/* Whether it is a string, and no number. */
static inline bool event_value_is_text(const struct event_value *value)
{
	return value->kind == EVENT_VALUE_ARRAY || value->kind == EVENT_VALUE_LOCATION ||
	       value->kind == EVENT_VALUE_COMM;
}

#endif
