/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan's filters, as the kernel side wants them: flags of the configuration before the
 * object is loaded, contents of maps after.
 */
#ifndef STACKTALLY_SESSION_FILTERS_H
#define STACKTALLY_SESSION_FILTERS_H

#include "base/error.h"
#include "bpf/wire.h"
#include "plan/plan.h"

struct stacktally;

/*
 * Before the load: sets `config`, the sizes of the filters' maps, and puts pinned maps in their
 * places. Ids are checked: those of no process at all are an error.
 */
int filters_configure(const struct plan *plan, struct stacktally *skeleton,
		      struct wire_config *config, struct error *err);

/* After the load, with what follows forks attached: fills the maps. */
int filters_fill(const struct plan *plan, struct stacktally *skeleton, struct error *err);

/* Adds one process: counted from its next exec on, with `on_exec`. */
int filters_add_process(struct stacktally *skeleton, pid_t pid, bool on_exec, struct error *err);

#endif
