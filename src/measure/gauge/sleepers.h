/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that exist when a measurement of time off the CPU begins. Sleeping ones cause no event,
 * so they have to be found, and their stacks walked, from outside.
 */
#ifndef STACKTALLY_GAUGE_SLEEPERS_H
#define STACKTALLY_GAUGE_SLEEPERS_H

#include "base/error.h"
#include "drain/drain.h"
#include "drain/epoch_stacks.h"
#include "drain/unwinder.h"
#include "plan/plan.h"
#include "tally/thread_list.h"

struct sleepers;
struct stacktally;

/*
 * Adds the threads that the plan's filters choose to the map of threads, where the programs find
 * them once they are armed. The arguments are borrowed. 0, or a negative errno with `err` set.
 */
int sleepers_find(const struct plan *plan, struct stacktally *skeleton, struct drain *drain,
		  struct sleepers **ret_sleepers, struct error *err);
/* May be NULL. */
void sleepers_free(struct sleepers *sleepers);

/*
 * Walks the stacks of sleeping threads, after the programs were armed. Those of processes with an
 * interpreter are walked here, copies of the others go to the unwinder; neither if it is NULL. 0:
 * all are walked, or it is `until` (CLOCK_MONOTONIC, ns), and the others stay without; 1: the
 * unwinder is full, and this is to be called again later; or a negative errno with `err` set.
 */
int sleepers_walk(struct sleepers *sleepers, struct unwinder *unwinder, uint64_t until,
		  struct error *err);

/*
 * Adds the stack with that hash to `stacks`, as far as it is known. 0; -ENOENT: it is no sleeping
 * thread's; -ENOMEM.
 */
int sleepers_take(const struct sleepers *sleepers, const struct wire_hash *hash,
		  struct epoch_stacks *stacks, struct tally *tally);

/* Whether a thread was ready to run when it was found, and has had no CPU since. */
bool sleepers_starve(const struct sleepers *sleepers);

/* Appends those that still are there to `list`, with what is known of them now. 0 or -ENOMEM. */
int sleepers_list(const struct sleepers *sleepers, struct thread_list *list);

#endif
