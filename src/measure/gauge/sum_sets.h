/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums of values by stack, from the kernel side (bpf/sums.bpf.h) to the stacks
 * (drain/epoch_stacks.h), which outlive their epoch: a stack may be finished later than its values
 * come.
 */
#ifndef STACKTALLY_GAUGE_SUM_SETS_H
#define STACKTALLY_GAUGE_SUM_SETS_H

#include <stdint.h>

#include "base/error.h"
#include "bpf/calls_wire.h"
#include "drain/drain.h"

struct stacktally;

/* Values of a stack whose walk is not finished yet. */
struct early_sum {
	struct wire_hash stack;
	struct stack_sum sum;
};

struct sum_sets {
	struct epoch_stacks *stacks; /* those of both epochs */
	struct wire_sums *sets;
	uint32_t n_sets; /* in each epoch */
	struct early_sum *early;
	uint32_t n_early, early_capacity;
};

/* Before the load; `sets` are those of both epochs. */
void sum_sets_configure(struct stacktally *skeleton, uint32_t sets);
/* After it; has the records of sums taken. 0 or a negative errno with `err` set. */
int sum_sets_open(struct sum_sets *sums, struct stacktally *skeleton, struct drain *drain,
		  struct error *err);
/* Zeros are allowed. */
void sum_sets_close(struct sum_sets *sums);

/* Adds the sums of an epoch that has ended, and those whose stack has come. 0 or a negative errno.
 */
int sum_sets_drain(struct sum_sets *sums, uint32_t epoch);
/* At the end: drops the values whose stack has not come, and returns their number. */
uint64_t sum_sets_lose(struct sum_sets *sums);

/* Of struct stack_keeping: stacks are known by their hash alone, their values come later. */
int sum_sets_add_stack(struct epoch_stacks *stacks, struct tally *tally,
		       const struct wire_stack *stack, const uint64_t *frames);

#endif
