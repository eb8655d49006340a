/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of one epoch (drain/epochs.h), in the order in which they came through the ring
 * buffer, with their counts. User frames enter the tally as they come; stacks and counts follow
 * with epoch_stacks_flush(), once the epoch has ended and its counts were drained.
 *
 * A stack has a count and two times. Times come epochs later than their stack, when a thread is
 * back on a CPU; where they may, one struct epoch_stacks serves both epochs, and
 * epoch_stacks_keep() takes the place of epoch_stacks_clear().
 */
#ifndef STACKTALLY_DRAIN_EPOCH_STACKS_H
#define STACKTALLY_DRAIN_EPOCH_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/wire.h"
#include "process/images.h"
#include "tally/comms.h"
#include "tally/tally.h"

struct epoch_stacks;
struct scripts;
struct interpreters;
struct interrupt_frames;
struct tracepoint_frames;

struct epoch_stacks_options {
	struct images *images; /* borrowed */
	const char *name;      /* comms must match this wildcard; NULL: any; borrowed */
	struct comms *others;  /* counts the comms that do not match; borrowed; may be NULL */
	__u64 seed[2];	       /* of the stack hash */
	/*
	 * With it, kernel stacks lose these frames when they enter the tally, and then what is
	 * deeper than kernel_depth. Borrowed; may be NULL.
	 */
	struct tracepoint_frames *tracepoint_frames;
	uint32_t kernel_depth;
	/*
	 * What is added to the tally for each event of a stack's count: 1, or 0 where stacks are
	 * those of times; and of stacks with WIRE_STACK_SAMPLED, the ns that a sample stands for.
	 */
	uint64_t of_event, of_sample;
	struct interrupt_frames *interrupts; /* tells wakers that are no task; may be NULL */
	struct scripts *scripts;	     /* gets the wakers' names; borrowed; may be NULL */
	/*
	 * User frames are addresses alone (--unwind=fp): what the program had in their upper bits
	 * is no mark.
	 */
	bool unmarked;
	/*
	 * Marks the evaluators' frames of stacks that came before their interpreter was known.
	 * Borrowed; may be NULL.
	 */
	const struct interpreters *interpreters;
};

/* 0 or -ENOMEM. */
int epoch_stacks_new(const struct epoch_stacks_options *options, struct epoch_stacks **ret_stacks);
void epoch_stacks_free(struct epoch_stacks *stacks);

/*
 * Takes a struct wire_stack with its frames from the ring buffer; the record may hold anything.
 * A stack that is known already is ignored. 0; -EPROTO for wrong sizes or a wrong hash; or the
 * negative errno of entering its addresses.
 */
int epoch_stacks_take(struct epoch_stacks *stacks, struct tally *tally, const void *record,
		      size_t size);

/*
 * Adds a stack of one event that is in no set of counts; its hash is not used. `frames` are laid
 * out as they follow a struct wire_stack.
 */
int epoch_stacks_add(struct epoch_stacks *stacks, struct tally *tally,
		     const struct wire_stack *stack, const uint64_t *frames);

/* The same with a count, under the stack's hash: more counts and times may be added to it. */
int epoch_stacks_enter(struct epoch_stacks *stacks, struct tally *tally,
		       const struct wire_stack *stack, const uint64_t *frames, uint64_t count);

/*
 * Adds ns to a stack; both may be negative, to take back what was added before its time came.
 * -ENOENT for a hash whose stack never came.
 */
int epoch_stacks_time(struct epoch_stacks *stacks, const struct wire_hash *hash, int64_t blocked,
		      int64_t waiting);
/* Adds ns that a thread was blocked on a stack until the stack `waker` woke it. */
int epoch_stacks_woken(struct epoch_stacks *stacks, const struct wire_hash *hash,
		       const struct wire_hash *waker, int64_t ns);
/* Adds values to a stack; -ENOENT for a hash whose stack never came. */
struct stack_sum {
	uint64_t n; /* values */
	uint64_t sum, largest;
};
int epoch_stacks_sum(struct epoch_stacks *stacks, const struct wire_hash *hash,
		     const struct stack_sum *sum);
/*
 * Keeps a stack beyond the next two epoch_stacks_keep(), if it is known: a call that is under way
 * now may return while the next epoch is drained, before calls are looked at again; its value then
 * comes with the epoch after that.
 */
void epoch_stacks_hold(struct epoch_stacks *stacks, const struct wire_hash *hash);

/* The same for all, if these are fewer than `most`; else false. */
bool epoch_stacks_hold_all(struct epoch_stacks *stacks, uint32_t most);

/* The number of stacks that came since the last epoch_stacks_clear() or epoch_stacks_keep(). */
uint32_t epoch_stacks_n(const struct epoch_stacks *stacks);

/* Adds to the count of a stack; -ENOENT for a hash whose stack never came. */
int epoch_stacks_count(struct epoch_stacks *stacks, const struct wire_hash *hash, uint64_t count);

/*
 * Adds the counted stacks to the tally, except those whose comm does not match. *ret_count is the
 * number of events, *ret_unwanted how many of these were not added.
 */
int epoch_stacks_flush(struct epoch_stacks *stacks, struct tally *tally, uint64_t *ret_count,
		       uint64_t *ret_unwanted);

/* Sets images[id] to 1 for the images that the stacks refer to. */
void epoch_stacks_mark_images(const struct epoch_stacks *stacks, const struct tally *tally,
			      uint32_t *images);

/*
 * Enters the addresses anew after the tally was reset and images have other ids: `before` has the
 * tally's addresses as they were, `images` the new id of each image. 0 or -ENOMEM.
 */
int epoch_stacks_rebase(struct epoch_stacks *stacks, struct tally *tally,
			const struct tally_address *before, const uint32_t *images);

/* Forgets all stacks. Returns 0. */
int epoch_stacks_clear(struct epoch_stacks *stacks);

/*
 * Forgets the stacks that have no time left, unless they were seen or held since the last time but
 * one. 0 or -ENOMEM.
 */
int epoch_stacks_keep(struct epoch_stacks *stacks);

#endif
