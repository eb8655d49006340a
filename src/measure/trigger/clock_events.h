/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events of perf_event_open(2) by perf's names: hardware, cache and software events, and raw ones
 * (rNNN), each with the modifier :u (user space only) or :k (kernel only) or none.
 */
#ifndef STACKTALLY_TRIGGER_CLOCK_EVENTS_H
#define STACKTALLY_TRIGGER_CLOCK_EVENTS_H

#include <linux/perf_event.h>

#include "base/error.h"

/*
 * Sets type, config and the exclude bits of `attr`. 0; -ENOENT for an unknown name, -EINVAL for an
 * unknown modifier.
 */
int clock_event_by_name(const char *name, struct perf_event_attr *attr, struct error *err);

#endif
