/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What comes from the BPF programs on its way into the tally: the records of the ring buffer, and
 * the counts of each epoch that has ended. Walks that lacked a table are finished in between
 * (drain/unwinder.h). All functions hold images_lock() while they use the images.
 */
#ifndef STACKTALLY_DRAIN_DRAIN_H
#define STACKTALLY_DRAIN_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "drain/epochs.h"
#include "drain/records.h"
#include "drain/stack_sets.h"
#include "plan/plan.h"
#include "process/images.h"
#include "tally/tally.h"
#include "unwind/unwind.h"

struct drain;
struct kernel_names;
struct sideband;
struct unwinder;

/* All is borrowed. */
struct drain_options {
	const struct plan *plan;
	const struct stack_keeping *keeping;
	struct images *images;
	struct sideband *sideband;		 /* NULL without user stacks */
	struct unwinder *unwinder;		 /* NULL without unwinding tables */
	const struct interpreters *interpreters; /* the same */
	struct scripts *scripts;		 /* gets the functions of interpreted programs */
	struct kernel_names *kernel; /* tells the frames of tracing, and of interrupts */
	bool tracing;		     /* kernel stacks begin with frames of tracing itself */
	bool raw;		     /* those of a raw tracepoint */
	struct epochs *epochs;
	int ring; /* the descriptor of the ring buffer, and its bytes */
	size_t ring_size;
	uint32_t epoch_stacks; /* that end an epoch */
	__u64 seed[2];	       /* of the stack hash */
};

/* 0, or a negative errno with `err` set. */
int drain_new(const struct drain_options *options, struct drain **ret_drain, struct error *err);
/* May be NULL. */
void drain_free(struct drain *drain);

/* Has all that comes from now on go to this tally, which is borrowed. */
void drain_into(struct drain *drain, struct tally *tally);

/* Has records of a kind taken, of which there may be none otherwise. */
void drain_set_taker(struct drain *drain, enum wire_kind kind, const struct record_taker *taker);

/* Takes a record that a walk in user space has made, in the form of those of the ring buffer. */
int drain_take(struct drain *drain, const void *record, size_t size);

/*
 * Adds a stack that was walked in user space: a struct wire_stack, and its frames. 0 or a negative
 * errno.
 */
int drain_enter(struct drain *drain, const struct wire_stack *stack, const uint64_t *frames);

/* As images_has_ended(), of what the records have told so far. */
bool drain_has_ended(const struct drain *drain, pid_t tgid, uint64_t time);

/* The stacks of both epochs. */
const struct stack_sets *drain_stacks(const struct drain *drain);

/* Whether as many stacks wait for their counts as may: the epoch has to end. */
bool drain_is_full(const struct drain *drain);

/*
 * Consumes the ring buffer: up to where drain_is_full(), and not much longer than until `until`
 * (monotonic_ns()). 0, or a negative errno with `err` set.
 */
int drain_consume(struct drain *drain, uint64_t until, struct error *err);

/*
 * Takes the records and the counts of an epoch that has ended. Its deferred walks wait for missing
 * tables no longer than `limit`. 0, or a negative errno with `err` set.
 */
int drain_take_epoch(struct drain *drain, uint32_t epoch, struct unwind_limit limit,
		     struct error *err);

/*
 * Adds that epoch's stacks to the tally. *ret_count is the number of its events, *ret_unwanted how
 * many of these --name leaves out. 0, or a negative errno with `err` set.
 */
int drain_flush(struct drain *drain, uint32_t epoch, uint64_t *ret_count, uint64_t *ret_unwanted,
		struct error *err);

/* As stack_sets_forget(). 0, or a negative errno with `err` set. */
int drain_forget(struct drain *drain, struct tally *tally, struct error *err);

/* The threads that --name left out so far. */
const struct comms *drain_others(const struct drain *drain);

#endif
