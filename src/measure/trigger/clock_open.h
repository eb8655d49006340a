/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens an event of perf on a CPU, and says why the kernel refuses it.
 */
#ifndef STACKTALLY_TRIGGER_CLOCK_OPEN_H
#define STACKTALLY_TRIGGER_CLOCK_OPEN_H

#include <linux/perf_event.h>

#include "base/error.h"

/* A descriptor, which the caller closes; or a negative errno. */
int clock_open(struct perf_event_attr *attr, int cpu);

/* Explains the negative errno `code` of clock_open(), and returns it. `event` is its name. */
int clock_explain_open(const struct perf_event_attr *attr, const char *event, int cpu, int code,
		       struct error *err);

#endif
