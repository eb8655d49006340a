/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which events of a JFR file are counted, and as what. A file has events of several kinds with
 * stacks, whose sum means nothing: --value NAME chooses the kind, as jfrconv's options do (cpu,
 * wall, alloc, lock, nativemem, live), or one type of events by its name. Without it, samples are
 * counted: of execution if there are any, else of the wall clock; or what there is instead.
 */
#ifndef STACKTALLY_IMPORT_JFR_EVENTS_H
#define STACKTALLY_IMPORT_JFR_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index.h"
#include "import/jfr_chunk.h"

/* Events of the file, by the names of their types. */
struct jfr_event_count {
	const char *type;     /* in the pool */
	uint64_t n, n_stacks; /* all, and those with a stack */
	bool has_stacks;      /* its type has a field for them */
	bool has_duration;    /* one of them took time */
};

struct jfr_events {
	struct jfr_event_count *list;
	uint32_t n, capacity;
	struct index index;
	uint64_t n_unknown; /* events of no type */
};

enum jfr_measure { JFR_COUNT, JFR_BYTES, JFR_TICKS };

#define JFR_WANTED_MAX 4

/* The types that are counted. */
struct jfr_wanted {
	const char *name; /* of the value */
	struct jfr_wanted_type {
		const char *type;   /* "jdk.ObjectAllocationSample"; NULL ends the list */
		const char *weight; /* the field that is summed; NULL: events are counted */
	} types[JFR_WANTED_MAX];
	enum jfr_measure measure;
};

/* Counts the events of a chunk. 0, -EBADMSG, -ENOMEM. */
int jfr_events_count(struct jfr_events *events, struct jfr_chunk *chunk);
void jfr_events_clear(struct jfr_events *events);

/*
 * What is counted. `value` is --value or NULL. False: there is nothing of that; *ret_text lists
 * what there is: "cpu, alloc, jdk.ThreadSleep".
 */
bool jfr_events_choose(const struct jfr_events *events, const char *value,
		       struct jfr_wanted *ret_wanted, char *ret_text, size_t size);
/*
 * "--value shows 62 jdk.JavaMonitorEnter (lock); 71 events have no stack"; or "". If two
 * types are counted, the text begins with these.
 */
void jfr_events_tell(const struct jfr_events *events, const struct jfr_wanted *wanted,
		     char *ret_text, size_t size);

#endif
