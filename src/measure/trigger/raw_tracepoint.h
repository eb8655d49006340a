/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which events of tracefs can be attached as raw tracepoints, by name. Those detach at once, while
 * the close of a tracepoint's perf event waits for all CPUs, some 100 ms, one event after another.
 */
#ifndef STACKTALLY_TRIGGER_RAW_TRACEPOINT_H
#define STACKTALLY_TRIGGER_RAW_TRACEPOINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct event {
	const char *name; /* "category:event" */
	uint64_t id;
};

/*
 * Whether all `n` events, sorted by name, have a raw tracepoint. `dynamic` is tracefs's
 * dynamic_events, which lists the events that users defined, or NULL for a kernel without them.
 */
bool raw_tracepoints_serve(const struct event *events, uint32_t n, FILE *dynamic);

#endif
