/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwinding, as far as a session has to see to it: the tables that the kernel side walks by, kept
 * true to what runs, and the walks that it could not finish, which wait here until user space
 * knows better. Without tables (--unwind=fp, none) there is no unwinder: NULL.
 */
#ifndef STACKTALLY_SESSION_UNWINDER_H
#define STACKTALLY_SESSION_UNWINDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "plan/plan.h"
#include "process/images.h"
#include "session/epoch_stacks.h"
#include "session/kernel_side.h"
#include "tally/tally.h"
#include "unwind/unwind.h"

struct unwinder;

/* Borrows all it is given. *ret_unwinder is NULL when the plan asks for no tables. */
int unwinder_open(const struct plan *plan, const struct kernel_side *side, struct images *images,
		  struct unwinder **ret_unwinder, struct error *err);
void unwinder_close(struct unwinder *unwinder);

/* For poll(): readable when unwinder_update() has something to take over; -1 for NULL. */
int unwinder_fd(const struct unwinder *unwinder);

/* Writes what has changed; call it when the side-band was drained. NULL is allowed. */
int unwinder_update(struct unwinder *unwinder, struct error *err);

/* Makes the tables of the processes known by now, before their first event. NULL is allowed. */
int unwinder_prepare(struct unwinder *unwinder, struct error *err);

/* A stack came: what its walk used is kept, what it lacked is seen to. NULL is allowed. */
void unwinder_saw(struct unwinder *unwinder, const struct wire_stack *stack);

/*
 * Takes a record of kind WIRE_KIND_UNFINISHED, of any content: -EPROTO when its sizes are wrong.
 * It is copied and waits for unwinder_finish().
 */
int unwinder_keep(struct unwinder *unwinder, const void *data, size_t size);

/*
 * Ends the walks that wait, each into the stacks of its epoch, when no table is missing any more:
 * what waits takes memory. NULL is allowed.
 */
int unwinder_settle(struct unwinder *unwinder, struct epoch_stacks *const stacks[WIRE_EPOCHS],
		    struct tally *tally, struct error *err);

/*
 * Ends the walks of an epoch that wait, each where it gets, into the stacks of the epoch. For
 * tables that are missing it waits as long as `patience_ns`; nothing is drained meanwhile. NULL is
 * allowed.
 */
int unwinder_finish(struct unwinder *unwinder, uint32_t epoch, uint64_t patience_ns,
		    struct epoch_stacks *const stacks[WIRE_EPOCHS], struct tally *tally,
		    struct error *err);

/* As many wait as may: time for unwinder_finish(). */
bool unwinder_is_full(const struct unwinder *unwinder);

/* Of the tables; of walks that waited, `finished` got to a true end. */
struct unwinder_stats {
	struct unwind_stats tables;
	uint64_t waited, finished;
};
void unwinder_stats(const struct unwinder *unwinder, struct unwinder_stats *ret_stats);

#endif
