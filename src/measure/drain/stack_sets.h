/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of both epochs (drain/epoch_stacks.h). How they are kept differs with what is
 * measured.
 */
#ifndef STACKTALLY_DRAIN_STACK_SETS_H
#define STACKTALLY_DRAIN_STACK_SETS_H

#include "drain/epoch_stacks.h"

/* How stacks are kept. */
struct stack_keeping {
	uint32_t n_sets;   /* WIRE_EPOCHS: a set for each epoch; 1: one that outlives them */
	uint64_t of_event; /* as in struct epoch_stacks_options */
	/* Adds a stack of one event that is in no set of counts: as epoch_stacks_add(). */
	int (*add)(struct epoch_stacks *stacks, struct tally *tally, const struct wire_stack *stack,
		   const uint64_t *frames);
	/* When an epoch is in the tally: as epoch_stacks_clear(). */
	int (*end)(struct epoch_stacks *stacks);
};

struct stack_sets {
	const struct stack_keeping *keeping;
	uint32_t n;
	struct epoch_stacks *list[WIRE_EPOCHS];
};

/* `keeping` is borrowed, and its `of_event` is used, not that of `options`. 0 or -ENOMEM. */
int stack_sets_open(const struct stack_keeping *keeping, const struct epoch_stacks_options *options,
		    struct stack_sets *ret_sets);
/* A struct of zeros is allowed. */
void stack_sets_close(struct stack_sets *sets);

/* The stacks of an epoch; only the last bit of its number counts. */
static inline struct epoch_stacks *stack_sets_of(const struct stack_sets *sets, uint32_t epoch)
{
	return sets->list[(epoch & (WIRE_EPOCHS - 1)) % sets->n];
}

/*
 * Resets the tally and drops the images that no stack refers to; the stacks' frames are entered
 * anew. The caller holds images_lock(). 0 or -ENOMEM.
 */
int stack_sets_forget(const struct stack_sets *sets, struct images *images, struct tally *tally);

#endif
