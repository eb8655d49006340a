/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that are there when a measurement of time off the CPU begins: those that sleep have to be
 * found, and their stacks walked, without any event of theirs.
 */
#ifndef STACKTALLY_SESSION_OFF_CPU_SLEEPERS_H
#define STACKTALLY_SESSION_OFF_CPU_SLEEPERS_H

#include "base/error.h"
#include "plan/plan.h"
#include "session/epoch_stacks.h"
#include "session/kernel_side.h"
#include "session/unwinder.h"

struct sleepers;

/*
 * Enters the threads that the plan's filters choose into the map of threads, where the programs
 * find them once they are armed. The arguments are borrowed. 0, or a negative errno with `err` set.
 */
int sleepers_find(const struct plan *plan, const struct kernel_side *side,
		  struct sleepers **ret_sleepers, struct error *err);
/* May be NULL. */
void sleepers_free(struct sleepers *sleepers);

/*
 * Walks the stacks of those that sleep, after the programs were armed. Copies of user stacks go to
 * the unwinder, or none if that is NULL. Returns 1 when the unwinder is full: to be called again
 * once it is not. 0 when all are walked, or a negative errno with `err` set.
 */
int sleepers_walk(struct sleepers *sleepers, struct unwinder *unwinder, struct error *err);

/*
 * Enters the stack with that hash, as far as it is known, if it is one of theirs. 0, -ENOENT or
 * -ENOMEM.
 */
int sleepers_take(const struct sleepers *sleepers, const struct wire_hash *hash,
		  struct epoch_stacks *stacks, struct tally *tally);

#endif
