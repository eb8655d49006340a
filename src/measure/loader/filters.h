/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan's filters as the BPF programs take them: flags in the configuration before the object is
 * loaded, contents of maps after.
 */
#ifndef STACKTALLY_LOADER_FILTERS_H
#define STACKTALLY_LOADER_FILTERS_H

#include "base/cpu_list.h"
#include "base/error.h"
#include "bpf/wire.h"
#include "plan/plan.h"

struct stacktally;

/*
 * Before the load: sets flags of `config` and the sizes of the filters' maps, puts pinned maps in
 * place, and has the programs that follow forks loaded. -ESRCH when none of the ids exists.
 */
int filters_configure(const struct plan *plan, struct stacktally *skeleton,
		      struct wire_config *config, struct error *err);

/* After the load, once the programs that follow forks are attached: fills the maps. */
int filters_fill(const struct plan *plan, struct stacktally *skeleton, struct error *err);

/*
 * The CPUs that the filters want, each once; none: all. They may be offline. 0 or a negative errno
 * with `err` set. The caller clears the list.
 */
int filters_cpus(const struct plan_filter *filter, struct cpu_list *ret_cpus, struct error *err);

/* Adds a process; with `on_exec` it counts from its next exec on. */
int filters_add_process(struct stacktally *skeleton, pid_t pid, bool on_exec, struct error *err);

#endif
