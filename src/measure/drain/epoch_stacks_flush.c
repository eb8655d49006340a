// SPDX-License-Identifier: GPL-2.0-or-later
#include "drain/epoch_stacks_internal.h"

#include <errno.h>
#include <string.h>

#include "kernel/tracepoint_frames.h"
#include "tally/scripts.h"

static uint32_t user_flags(const struct counted_stack *counted)
{
	uint32_t flags = TALLY_STACK_ENDED(counted->end);

	if (counted->flags & WIRE_STACK_USER_CUT || counted->end == WIRE_END_DEPTH)
		flags |= TALLY_STACK_CUT;
	if (counted->flags & WIRE_STACK_ASSUMED)
		flags |= TALLY_STACK_ASSUMED;
	return flags;
}

/* A frame of a stack that was off the CPU, but no function: its leaf, or what stands for the rest.
 */
static int add_mark(struct tally *tally, enum off_cpu_leaf what, uint32_t *ret_id)
{
	const struct tally_address leaf = { .address = off_cpu_leaf_address(what),
					    .image = TALLY_IMAGE_KERNEL,
					    .flags = TALLY_ADDRESS_SCRIPT };

	return tally_address(tally, &leaf, ret_id);
}

const uint64_t *epoch_stacks_kernel(const struct epoch_stacks *stacks,
				    const struct counted_stack *counted, uint32_t *ret_n,
				    uint32_t *ret_flags)
{
	const uint64_t *frames = stacks->kernel_frames + counted->first_kernel;
	uint32_t n = counted->n_kernel, skipped;

	*ret_flags = counted->flags & WIRE_STACK_KERNEL_CUT ? TALLY_STACK_CUT : 0;
	*ret_n = n;
	if (!stacks->options.tracepoint_frames)
		return frames;
	skipped = tracepoint_frames_count(stacks->options.tracepoint_frames, frames, n);
	*ret_n = n - skipped;
	if (*ret_n >= stacks->options.kernel_depth) {
		*ret_n = stacks->options.kernel_depth;
		*ret_flags = TALLY_STACK_CUT;
	}
	return frames + skipped;
}

/*
 * Enters the kernel stack, without the frames of the tracing itself, into the tally; below the
 * leaf, if there is one.
 */
static int add_kernel(const struct epoch_stacks *stacks, struct tally *tally,
		      const struct counted_stack *counted, enum off_cpu_leaf leaf,
		      uint32_t *ret_stack)
{
	uint32_t ids[WIRE_MAX_DEPTH + 2], n, flags, at = 0;
	const uint64_t *frames = epoch_stacks_kernel(stacks, counted, &n, &flags);
	/* Of tracing, and of a thread off the CPU, even the first is a return address. */
	bool exact = !leaf && frames == stacks->kernel_frames + counted->first_kernel;

	if (leaf) {
		int r = add_mark(tally, leaf, &ids[at++]);

		if (r < 0)
			return r;
		if (n == TALLY_MAX_FRAMES) {
			n--;
			flags = TALLY_STACK_CUT;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		struct tally_address address = {
			.address = frames[i],
			.image = TALLY_IMAGE_KERNEL,
			.flags = exact && i == 0 ? TALLY_ADDRESS_EXACT : 0,
		};
		int r = tally_address(tally, &address, &ids[at++]);

		if (r < 0)
			return r;
	}
	if (counted->flags & WIRE_STACK_UNREAD) {
		int r = add_mark(tally, OFF_CPU_LEAF_UNREAD, &ids[at++]);

		if (r < 0)
			return r;
	}
	return tally_stack(tally, ids, at, flags, ret_stack);
}

int epoch_stacks_add_to(const struct epoch_stacks *stacks, struct tally *tally,
			const struct counted_stack *counted, const struct stack_sum *amount,
			uint32_t kernel)
{
	struct tally_entry entry = { .count = amount->sum,
				     .events = amount->n,
				     .largest = amount->largest,
				     .cgroup = counted->cgroup,
				     .tgid = counted->tgid,
				     .tid = counted->tid,
				     .kernel = kernel };
	int r;

	memcpy(entry.comm, counted->comm, sizeof(entry.comm));
	r = tally_stack(tally, stacks->user_frames + counted->first_user, counted->n_user,
			user_flags(counted), &entry.user);
	if (r < 0)
		return r;
	r = tally_add(tally, &entry);
	/* -ENOSPC: the tally has counted the events it had no room for. */
	return r == -ENOSPC ? 0 : r;
}

void epoch_stacks_lose(const struct epoch_stacks *stacks, struct tally *tally,
		       const struct stack_sum *amount)
{
	struct tally_losses *losses = tally_losses(tally);

	losses->memory_full = true;
	if (amount->n)
		losses->lost_memory += amount->n;
	else if (stacks->options.of_event)
		losses->lost_memory += amount->sum;
	else
		losses->lost_time += amount->sum;
}

/* Adds what was counted of a stack; `leaf` 0: none. */
static int add_entry(const struct epoch_stacks *stacks, struct tally *tally,
		     const struct counted_stack *counted, const struct stack_sum *amount,
		     enum off_cpu_leaf leaf)
{
	uint32_t kernel;
	int r = counted->lost ? -EDQUOT : add_kernel(stacks, tally, counted, leaf, &kernel);

	if (r == 0)
		r = epoch_stacks_add_to(stacks, tally, counted, amount, kernel);
	if (r != -EDQUOT)
		return r;
	epoch_stacks_lose(stacks, tally, amount);
	return 0;
}

/* Adds ns of a stack. A negative time is kept: the rest of it is still to come. */
static int add_time(const struct epoch_stacks *stacks, struct tally *tally,
		    const struct counted_stack *counted, int64_t *ns, enum off_cpu_leaf leaf)
{
	int r = 0;

	if (*ns <= 0)
		return 0;
	if (counted->wanted)
		r = add_entry(stacks, tally, counted, &(struct stack_sum){ .sum = (uint64_t)*ns },
			      leaf);
	*ns = 0;
	return r;
}

/* Adds the values of a stack. */
static int add_values(const struct epoch_stacks *stacks, struct tally *tally,
		      struct counted_stack *counted)
{
	int r = 0;

	if (counted->values.n && counted->wanted)
		r = add_entry(stacks, tally, counted, &counted->values, 0);
	counted->values = (struct stack_sum){ 0 };
	return r;
}

static int add_counted(const struct epoch_stacks *stacks, struct tally *tally,
		       struct counted_stack *counted)
{
	uint64_t each = counted->flags & WIRE_STACK_SAMPLED ? stacks->options.of_sample
							    : stacks->options.of_event;
	int r = 0;

	if (counted->count && each && counted->wanted)
		r = add_entry(stacks, tally, counted,
			      &(struct stack_sum){ .sum = counted->count * each }, 0);
	if (r == 0)
		r = add_time(stacks, tally, counted, &counted->blocked,
			     counted->flags & WIRE_STACK_ASLEEP ? OFF_CPU_LEAF_ASLEEP
								: OFF_CPU_LEAF_BLOCKED);
	if (r == 0)
		r = add_time(stacks, tally, counted, &counted->waiting, OFF_CPU_LEAF_WAITING);
	return r < 0 ? r : add_values(stacks, tally, counted);
}

int epoch_stacks_flush(struct epoch_stacks *stacks, struct tally *tally, uint64_t *ret_count,
		       uint64_t *ret_unwanted)
{
	uint64_t count = 0, unwanted = 0;

	for (uint32_t i = 0; i < stacks->n; i++) {
		struct counted_stack *counted = &stacks->items[i];
		int r = add_counted(stacks, tally, counted);

		if (!counted->wanted && stacks->options.others)
			r = comms_add(stacks->options.others, counted->comm, counted->count);
		if (r < 0)
			return r;
		count += counted->count;
		unwanted += counted->wanted ? 0 : counted->count;
		counted->count = 0; /* stacks may stay */
	}
	*ret_count = count;
	*ret_unwanted = unwanted;
	return epoch_stacks_flush_woken(stacks, tally);
}
