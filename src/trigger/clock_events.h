/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events by perf's names: generic hardware, cache and software events, raw ones (rNNN), each
 * with the modifiers :u (user space only) and :k (kernel only).
 */
#ifndef STACKTALLY_TRIGGER_CLOCK_EVENTS_H
#define STACKTALLY_TRIGGER_CLOCK_EVENTS_H

#include <linux/perf_event.h>
#include <stddef.h>

#include "base/error.h"

/* Sets type, config and the exclude bits of `attr`. -ENOENT with a message for unknown names. */
int clock_event_by_name(const char *name, struct perf_event_attr *attr, struct error *err);

/* The names there are: the i-th, or NULL past the end. Cache events are left out. */
const char *clock_event_name(size_t i);

#endif
