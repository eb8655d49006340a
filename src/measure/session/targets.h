/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of what was chosen to be measured: the processes of -p and the threads of -L end.
 * Must not know: events, stacks.
 */
#ifndef STACKTALLY_SESSION_TARGETS_H
#define STACKTALLY_SESSION_TARGETS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "plan/plan.h"

struct targets;

/* `tgids` is the descriptor of the BPF programs' map, borrowed as `plan` is. 0 or -ENOMEM. */
int targets_open(const struct plan *plan, int tgids, struct targets **ret_targets,
		 struct error *err);
void targets_close(struct targets *targets);

/*
 * Whether all chosen processes, or all chosen threads, have ended; with --children, also all that
 * they forked. False if none were chosen. NULL is allowed.
 */
bool targets_ended(struct targets *targets);

/* What happened to the chosen ones, for a message; false: nothing. */
bool targets_describe(const struct targets *targets, char *ret_text, size_t size);

#endif
