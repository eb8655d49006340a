// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "base/grow.h"
#include "drain/epoch_stacks_internal.h"
#include "kernel/interrupt_frames.h"
#include "tally/scripts.h"

static uint64_t woken_hash(const struct wire_hash *stack, const struct wire_hash *waker)
{
	return stack->low ^ hash_u64(waker->low);
}

int epoch_stacks_keep_woken(struct epoch_stacks *stacks)
{
	uint32_t n = 0;

	index_free(&stacks->woken_index);
	for (uint32_t i = 0; i < stacks->n_woken; i++) {
		struct woken woken = stacks->woken[i];
		int r;

		if (!woken.ns)
			continue;
		epoch_stacks_hold(stacks, &woken.stack);
		epoch_stacks_hold(stacks, &woken.waker);
		r = index_add(&stacks->woken_index, woken_hash(&woken.stack, &woken.waker), n);
		if (r < 0)
			return r;
		stacks->woken[n++] = woken;
	}
	stacks->n_woken = n;
	return 0;
}

/* Frames of a kernel stack that is put together, leaf first, as ids of tally addresses. */
struct frame_ids {
	uint32_t list[TALLY_MAX_FRAMES];
	uint32_t n;
	int r; /* the first error */
};

static void put_id(struct frame_ids *ids, uint32_t id)
{
	if (ids->n < TALLY_MAX_FRAMES)
		ids->list[ids->n++] = id;
}

static void put_kernel(struct frame_ids *ids, struct tally *tally, uint64_t value, uint32_t flags)
{
	const struct tally_address address = { .address = value,
					       .image = TALLY_IMAGE_KERNEL,
					       .flags = flags };
	uint32_t id;
	int r = tally_address(tally, &address, &id);

	if (r == 0)
		put_id(ids, id);
	else if (ids->r == 0)
		ids->r = r;
}

static void put_code(struct frame_ids *ids, struct tally *tally, uint64_t code)
{
	put_kernel(ids, tally, code, TALLY_ADDRESS_SCRIPT);
}

/* The name of a task that woke another, as the address of its code. */
static uint64_t waker_name(const struct epoch_stacks *stacks, const struct counted_stack *waker)
{
	char name[WIRE_COMM_SIZE + 1] = "";
	uint64_t id;

	memcpy(name, waker->comm, WIRE_COMM_SIZE);
	id = SCRIPT_ID(hash_bytes(name, strlen(name))) | SCRIPT_IDS;
	if (stacks->options.scripts)
		scripts_add(stacks->options.scripts,
			    &(struct script){ .id = id, .name = name, .file = "" });
	return (uint64_t)SCRIPT_WAKER << SCRIPT_LANGUAGE_SHIFT | id;
}

/* Puts at most `room` user frames of a waker that is a task, the outermost first. */
static void put_waker_task(struct frame_ids *ids, const struct epoch_stacks *stacks,
			   struct tally *tally, const struct counted_stack *waker,
			   uint32_t capacity)
{
	uint32_t n = waker->n_user < capacity ? waker->n_user : capacity;
	const uint32_t *user = stacks->user_frames + waker->first_user;

	put_code(ids, tally, waker_name(stacks, waker));
	if (waker->n_user && tally_end_frame((enum tally_end)waker->end))
		put_code(ids, tally,
			 off_cpu_leaf_address((enum off_cpu_leaf)(OFF_CPU_WAKER_END + waker->end)));
	while (n > 0)
		put_id(ids, user[--n]);
}

/* Puts the name of a waker, then its frames; of an interrupt only its own frames. */
static void put_waker(struct frame_ids *ids, const struct epoch_stacks *stacks, struct tally *tally,
		      const struct counted_stack *waker, uint32_t n_target)
{
	uint32_t n, flags, n_interrupt = 0;
	const uint64_t *kernel = epoch_stacks_kernel(stacks, waker, &n, &flags);
	bool timer = false;

	if (stacks->options.interrupts)
		n_interrupt = interrupt_frames_count(stacks->options.interrupts, kernel, n, &timer);
	if (n == 0)
		put_code(ids, tally, off_cpu_leaf_address(OFF_CPU_WAKER_UNKNOWN));
	else if (n_interrupt)
		put_code(ids, tally,
			 off_cpu_leaf_address(timer ? OFF_CPU_WAKER_TIMER
						    : OFF_CPU_WAKER_INTERRUPT));
	else
		put_waker_task(ids, stacks, tally, waker, TALLY_MAX_FRAMES - n - n_target);
	if (n_interrupt)
		n = n_interrupt;
	while (n > 0)
		put_kernel(ids, tally, kernel[--n], 0);
}

/* Adds the time of a stack that was blocked until a waker came. */
static int add_woken(const struct epoch_stacks *stacks, struct tally *tally, struct woken *woken)
{
	const struct counted_stack *counted = epoch_stacks_find(stacks, &woken->stack);
	const struct counted_stack *waker = epoch_stacks_find(stacks, &woken->waker);
	const struct stack_sum time = { .sum = (uint64_t)woken->ns };
	struct frame_ids ids = { 0 };
	const uint64_t *kernel;
	uint32_t n, flags, stack;
	int r;

	if (woken->ns <= 0 || !counted || !waker)
		return 0;
	if (!counted->wanted) {
		woken->ns = 0;
		return 0;
	}
	kernel = epoch_stacks_kernel(stacks, counted, &n, &flags);
	/* Room for the waker's name, its end, two marks, and both kernel stacks. */
	if (n > TALLY_MAX_FRAMES / 3)
		n = TALLY_MAX_FRAMES / 3;
	put_waker(&ids, stacks, tally, waker, n + 4);
	put_code(&ids, tally, off_cpu_leaf_address(OFF_CPU_LEAF_WOKEN));
	put_code(&ids, tally, off_cpu_leaf_address(OFF_CPU_LEAF_BLOCKED));
	for (uint32_t i = 0; i < n; i++)
		put_kernel(&ids, tally, kernel[i], 0);
	r = ids.r < 0 ? ids.r : tally_stack(tally, ids.list, ids.n, flags, &stack);
	if (r == 0)
		r = counted->lost || waker->lost
			    ? -EDQUOT
			    : epoch_stacks_add_to(stacks, tally, counted, &time, stack);
	if (r == -EDQUOT) {
		epoch_stacks_lose(stacks, tally, &time);
		r = 0;
	}
	woken->ns = 0;
	return r;
}

int epoch_stacks_flush_woken(struct epoch_stacks *stacks, struct tally *tally)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < stacks->n_woken; i++)
		r = add_woken(stacks, tally, &stacks->woken[i]);
	return r;
}

static struct woken *find_woken(const struct epoch_stacks *stacks, const struct wire_hash *stack,
				const struct wire_hash *waker)
{
	struct index_cursor cursor;

	for (uint32_t at = index_first(&stacks->woken_index, woken_hash(stack, waker), &cursor);
	     at != INDEX_NONE; at = index_next(&stacks->woken_index, &cursor)) {
		struct woken *woken = &stacks->woken[at];

		if (woken->stack.low == stack->low && woken->stack.high == stack->high &&
		    woken->waker.low == waker->low && woken->waker.high == waker->high)
			return woken;
	}
	return NULL;
}

int epoch_stacks_woken(struct epoch_stacks *stacks, const struct wire_hash *hash,
		       const struct wire_hash *waker, int64_t ns)
{
	struct woken *woken = find_woken(stacks, hash, waker);
	int r;

	if (woken) {
		woken->ns += ns;
		return 0;
	}
	if (!epoch_stacks_find(stacks, hash) || !epoch_stacks_find(stacks, waker))
		return -ENOENT;
	r = grow(&stacks->woken, &stacks->woken_capacity, stacks->n_woken + 1);
	if (r == 0)
		r = index_add(&stacks->woken_index, woken_hash(hash, waker), stacks->n_woken);
	if (r < 0)
		return r;
	stacks->woken[stacks->n_woken++] = (struct woken){ *hash, *waker, ns };
	return 0;
}
