/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct perf_script, and what perf_script*.c share: perf_script.c is the writer and its head,
 * perf_script_record.c the text of a record, perf_script_order.c the order and times of records.
 */
#ifndef STACKTALLY_REPORT_PERF_SCRIPT_INTERNAL_H
#define STACKTALLY_REPORT_PERF_SCRIPT_INTERNAL_H

#include "report/writer.h"
#include "view/entry_groups.h"
#include "view/frame_text.h"
#include "view/stack_list.h"

/* A stack with `records` to write. Its k-th is due at (k + 1/2) / records of the measurement. */
struct turn {
	uint32_t entry, records, written;
};

/* A record that is due within a slice of the timeline. */
struct due {
	double at; /* seconds since the start */
	uint32_t number, entry;
};

struct perf_script {
	const struct profile *profile;
	const struct timeline *timeline; /* or NULL */
	uint64_t each;			 /* samples that a record stands for */
	uint64_t records;		 /* to write */
	uint64_t written;
	uint64_t rest;	    /* samples carried over to the next record */
	struct turn *turns; /* a heap: the stack whose record comes next is the first */
	uint32_t n_turns;
	struct due *due; /* with a timeline: the records of the current slice */
	uint32_t n_due, due_capacity;
	double last; /* the time of the last record */
	struct entry_groups groups;
	struct frame_texts frames;
	struct bytes bytes;
	struct bytes event; /* its name, as one word */
	uint32_t list[STACK_LIST_MAX];
};

/* ---- perf_script_record.c ---- */

/* Appends a name without the blanks and parentheses at which readers split. */
void perf_script_put_word(struct bytes *bytes, const char *word);

/* Makes the line of each frame, once. 0 or -ENOMEM. */
int perf_script_make_frames(struct perf_script *script);

/* Writes a record; `at` in seconds since the start. */
void perf_script_put_record(struct perf_script *script, const struct profile_entry *entry,
			    double at);

/* ---- perf_script_order.c ---- */

/* Write all records: spread evenly, or as the timeline has them. 0 or a negative errno. */
int perf_script_put_evenly(struct perf_script *script);
int perf_script_put_by_time(struct perf_script *script);

#endif
