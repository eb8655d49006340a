/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What firefox*.c share: firefox.c is the writer and its head, firefox_thread.c a thread with its
 * samples, firefox_tables.c the tables of its stacks.
 */
#ifndef STACKTALLY_REPORT_FIREFOX_INTERNAL_H
#define STACKTALLY_REPORT_FIREFOX_INTERNAL_H

#include "base/bytes.h"
#include "base/index.h"
#include "report/writer.h"
#include "view/entry_groups.h"
#include "view/stack_list.h"
#include "view/timed_samples.h"

/* Of a frame, by its place in the list of firefox.c. */
enum firefox_category {
	FIREFOX_OTHER, /* marks */
	FIREFOX_USER,
	FIREFOX_KERNEL,
	FIREFOX_GENERATED, /* code, and functions of interpreted programs */
	FIREFOX_OFF_CPU,
	FIREFOX_N_CATEGORIES,
};

/* A node of the tree of stacks: a frame and what called it. */
struct firefox_stack {
	uint32_t frame;	 /* a number in the thread's frames */
	uint32_t prefix; /* the node of the caller; UINT32_MAX: none */
};

/* The frames and stacks of one thread. A frame is one of the profile, or beyond them a mark. */
struct firefox_tables {
	const struct profile *profile;
	uint32_t *frames; /* of the profile, in the order of their first use */
	uint32_t n_frames;
	uint32_t *number_of; /* of each frame of the profile, in `frames`; UINT32_MAX: none */
	struct firefox_stack *stacks;
	uint32_t n_stacks, stack_capacity;
	struct index index; /* of `stacks` */
};

/* 0 or -ENOMEM; firefox_tables_clear() is due in both cases. */
int firefox_tables_make(const struct profile *profile, struct firefox_tables *ret_tables);
void firefox_tables_clear(struct firefox_tables *tables);
/* Empties them for another thread. */
void firefox_tables_reset(struct firefox_tables *tables);

/* The node of a stack, leaf first; it is added if it is new. 0 or -ENOMEM. */
int firefox_tables_add(struct firefox_tables *tables, const uint32_t *list, uint32_t n,
		       uint32_t *ret_stack);
/* Appends the members of the thread that describe its stacks, the first after a comma. */
void firefox_tables_put(const struct firefox_tables *tables, struct bytes *bytes);

/* A record of a thread. */
struct firefox_record {
	double at; /* seconds since the start */
	uint32_t entry, group;
};

struct firefox {
	const struct profile *profile;
	struct timed_samples samples;
	struct entry_groups groups;
	struct firefox_record *records; /* by time; for a thread, its own are picked */
	uint32_t n_records, record_capacity;
	uint32_t *group_of; /* of each entry */
	uint32_t *next_of;  /* of each record: the next one of its group; UINT32_MAX: none */
	uint32_t *first_of; /* of each group */
	uint32_t *stack_of; /* of each entry, in the tables of its thread */
	struct firefox_tables tables;
	struct bytes bytes;
	uint32_t list[STACK_LIST_MAX];
};

/* Appends the thread of a group. 0 or -ENOMEM. */
int firefox_put_thread(struct firefox *firefox, uint32_t group);

#endif
