/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process of the chosen cgroups, in whose root and among whose mappings the files of patterns are
 * looked for: a container has libraries of its own.
 */
#ifndef STACKTALLY_TRIGGER_GROUP_PROCESS_H
#define STACKTALLY_TRIGGER_GROUP_PROCESS_H

#include <sys/types.h>

#include "tally/cgroup_filter.h"

/* 0: no cgroups are chosen, or no process is in them. */
pid_t group_process(const struct cgroup_filter *filter);

#endif
