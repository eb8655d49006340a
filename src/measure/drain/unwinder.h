/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwinding by tables: keeps the tables of the BPF programs in step with what
 * processes map, and finishes the walks that lacked a table, which wait here until it was made.
 *
 * Without tables (--unwind=fp, none) the unwinder is NULL, which all functions but
 * unwinder_stats() accept.
 */
#ifndef STACKTALLY_DRAIN_UNWINDER_H
#define STACKTALLY_DRAIN_UNWINDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "drain/stack_sets.h"
#include "interpreters/interpreters.h"
#include "plan/plan.h"
#include "process/images.h"
#include "tally/tally.h"
#include "unwind/unwind.h"

struct unwinder;

/*
 * Takes over `maps`, on failure too, where the tables are stored; borrows the others. 0, or a
 * negative errno with `err` set.
 */
int unwinder_open(const struct plan *plan, struct unwind_maps *maps, struct images *images,
		  struct interpreters *interpreters, struct unwinder **ret_unwinder,
		  struct error *err);
void unwinder_close(struct unwinder *unwinder);

/* For poll(): readable when unwinder_update() has something to do; -1 for NULL. */
int unwinder_fd(const struct unwinder *unwinder);

/* Writes changed tables and mappings; to be called after the side-band was drained. */
int unwinder_update(struct unwinder *unwinder, struct error *err);

/*
 * Has the table of a file made, which is open for reading: for one that is about to run. 0 or
 * -ENOMEM; a file that cannot be identified gets its table with its first mapping.
 */
int unwinder_expect(struct unwinder *unwinder, int fd, struct error *err);

/* Makes the tables of files expected and processes known by now; waits for them for 2 s at most. */
int unwinder_prepare(struct unwinder *unwinder, struct error *err);

/* Notes a stack that came: tables that its walk used are kept, one that it lacked is made. */
void unwinder_saw(struct unwinder *unwinder, const struct wire_stack *stack);

/*
 * Copies a record of kind WIRE_KIND_UNFINISHED, which may hold anything, to be finished later. 0;
 * -ENOMEM; -EPROTO for wrong sizes.
 */
int unwinder_defer(struct unwinder *unwinder, const void *record, size_t size);

/* Finishes all deferred walks, each into the stacks of its epoch, if no table is missing any more.
 */
int unwinder_finish_ready(struct unwinder *unwinder, const struct stack_sets *stacks,
			  struct tally *tally, struct error *err);

/*
 * Finishes the deferred walks of an epoch as far as they get, into its stacks. Waits for missing
 * tables no longer than `limit`; meanwhile nothing is drained.
 */
int unwinder_finish(struct unwinder *unwinder, uint32_t epoch, struct unwind_limit limit,
		    const struct stack_sets *stacks, struct tally *tally, struct error *err);

/* Whether walks are deferred. */
bool unwinder_defers(const struct unwinder *unwinder);
/* Whether as many walks are deferred as may be: then the epoch has to end. */
bool unwinder_is_full(const struct unwinder *unwinder);

/* For walks in user space; NULL for NULL. */
const struct unwind *unwinder_tables(const struct unwinder *unwinder);
const struct interpreters *unwinder_interpreters(const struct unwinder *unwinder);

struct unwinder_stats {
	struct unwind_stats tables;
	uint64_t waited, finished; /* deferred walks, and how many got to the end of their stack */
};
void unwinder_stats(const struct unwinder *unwinder, struct unwinder_stats *ret_stats);

#endif
