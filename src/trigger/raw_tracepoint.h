/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which events of tracefs a program can be hung on as raw tracepoints, by name. That ends at once:
 * the close of a perf event on a tracepoint waits for all CPUs, some 100 ms, and one waits for the
 * other. Reads text; attaches nothing.
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
 * Whether all these events, which are sorted by name, can be. `dynamic` is the text of tracefs's
 * dynamic_events, or NULL where nobody can make any.
 */
bool raw_tracepoints_serve(const struct event *events, uint32_t n, FILE *dynamic);

#endif
