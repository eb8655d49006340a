/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many samples an event of perf must have delivered: the kernel counts, apart from the samples,
 * for how long the event was enabled and what it has counted, and says when it throttled it.
 */
#ifndef STACKTALLY_TRIGGER_CLOCK_DUE_H
#define STACKTALLY_TRIGGER_CLOCK_DUE_H

#include <linux/perf_event.h>

#include "trigger/trigger.h"

/* A page of records: the kernel only tells there when it throttled the event. */
#define CLOCK_RECORD_PAGES 1

/* What one event has delivered and lost. */
struct clock_due {
	struct trigger_due now;	  /* as it was read last */
	struct trigger_due added; /* what clock_due_add() has added */
	uint64_t throttles;	  /* times */
	uint64_t since;		  /* CLOCK_MONOTONIC in ns, when it was throttled; 0: it is not */
};

/*
 * Reads an event, whose read_format is PERF_FORMAT_TOTAL_TIME_ENABLED and whose clock is
 * CLOCK_MONOTONIC, and consumes its records. What cannot be read stays as it was.
 */
void clock_due_read(const struct perf_event_attr *attr, int fd,
		    struct perf_event_mmap_page *records, struct clock_due *due);

/* Adds to `total` what has become due since the last call. */
void clock_due_add(struct clock_due *due, struct trigger_due *total);

/* The ns from one sample to the next; 0 for events that do not come by time. */
uint64_t clock_due_period_ns(const struct perf_event_attr *attr);

#endif
