/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct epoch_stacks, and what epoch_stacks*.c share: records become stacks in epoch_stacks.c,
 * stacks become entries of the tally in epoch_stacks_flush.c, and epoch_stacks_wakers.c joins those
 * of a thread that was blocked and of the task that woke it.
 */
#ifndef STACKTALLY_DRAIN_EPOCH_STACKS_INTERNAL_H
#define STACKTALLY_DRAIN_EPOCH_STACKS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index.h"
#include "drain/epoch_stacks.h"

/* A stack and how often it was counted in this epoch. */
struct counted_stack {
	struct wire_hash hash;
	uint64_t cgroup;
	uint64_t first_user;   /* into user_frames, of n_user */
	uint64_t first_kernel; /* into kernel_frames, of n_kernel */
	uint64_t count;
	int64_t blocked, waiting; /* ns off the CPU */
	struct stack_sum values;
	uint32_t seen; /* `cleared` when it came, or was held, last */
	uint32_t tgid, tid;
	uint16_t n_kernel, n_user;
	uint16_t flags; /* enum wire_stack_flags */
	uint8_t end;	/* enum wire_end */
	bool wanted;	/* the comm matches; frames of others are not kept */
	bool lost;	/* its frames found no room in the tally */
	char comm[WIRE_COMM_SIZE];
};

/* A stack and that of a waker; ns that threads were blocked until it woke them. */
struct woken {
	struct wire_hash stack, waker;
	int64_t ns;
};

/* Slots for the last stacks of processes, by their ids. */
#define LAST_STACKS 64u

struct epoch_stacks {
	struct epoch_stacks_options options;
	struct counted_stack *items;
	uint32_t n, capacity;
	uint32_t *user_frames; /* ids of tally addresses */
	uint64_t n_user_frames, user_capacity;
	uint64_t *kernel_frames; /* addresses */
	uint64_t n_kernel_frames, kernel_capacity;
	struct index index; /* of items that are counted by their hash */
	uint32_t n_kept;    /* items from before the last epoch_stacks_keep() */
	uint32_t cleared;   /* times that it was called; begins again at 0 after 2^32 */
	uint32_t last[LAST_STACKS];
	struct woken *woken;
	uint32_t n_woken, woken_capacity;
	struct index woken_index;
};

/* The stack with this hash; NULL. */
struct counted_stack *epoch_stacks_find(const struct epoch_stacks *stacks,
					const struct wire_hash *hash);

/* The kernel frames of a stack without those of the tracing; and flags of the tally's stack. */
const uint64_t *epoch_stacks_kernel(const struct epoch_stacks *stacks,
				    const struct counted_stack *counted, uint32_t *ret_n,
				    uint32_t *ret_flags);

/* Adds an amount, of which a count has only the sum, to a stack whose kernel stack is in the tally.
 * 0; -EDQUOT; or another errno. */
int epoch_stacks_add_to(const struct epoch_stacks *stacks, struct tally *tally,
			const struct counted_stack *counted, const struct stack_sum *amount,
			uint32_t kernel);

/* Counts events of a stack that has no room in the tally as lost. */
void epoch_stacks_lose(const struct epoch_stacks *stacks, struct tally *tally,
		       const struct stack_sum *amount);

/* Forgets the pairs without time, and keeps the stacks of the others. 0 or a negative errno. */
int epoch_stacks_keep_woken(struct epoch_stacks *stacks);

/* Adds the times that wakers ended to the tally. 0 or a negative errno. */
int epoch_stacks_flush_woken(struct epoch_stacks *stacks, struct tally *tally);

#endif
