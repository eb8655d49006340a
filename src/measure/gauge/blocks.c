// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory that is allocated and not freed, by the stacks that allocated it: the kernel side
 * (bpf/blocks.bpf.h) has a map of all such blocks, which is added up for each report.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/own.h"
#include "bpf/blocks_wire.h"
#include "bpf/calls_wire.h"
#include "gauge/counters.h"
#include "gauge/gauge.h"
#include "gauge/threads.h"
#include "stacktally.skel.h"

/* The maps of calls have room for twice as many threads as there are now, and so many more. */
#define SPARE_THREADS 8192u
/* Blocks that are followed at a time: some 30 MB of the kernel's memory. */
#define BLOCKS_MAX (1u << 18)
#define BATCH	   4096u
/* So many stacks are kept without a look at which of them still have blocks. */
#define STACKS_MAX 100000u
#define NS_IN_S	   1e9

struct blocks {
	struct gauge gauge;
	const struct plan *plan;
	struct stacktally *skeleton;
	struct drain *drain;
	struct epoch_stacks *stacks; /* those of both epochs */
	struct wire_block_counters before;
	struct wire_block_key keys[BATCH];
	struct wire_block list[BATCH];
};

static struct blocks *blocks_of(struct gauge *gauge)
{
	return (struct blocks *)gauge;
}

static void use_maps(struct stacktally *skeleton, bool use)
{
	bpf_map__set_autocreate(skeleton->maps.blocks, use);
	bpf_map__set_autocreate(skeleton->maps.allocations, use);
	bpf_map__set_autocreate(skeleton->maps.block_counters, use);
	bpf_program__set_autoload(skeleton->progs.on_allocator_exit, use);
	bpf_program__set_autoload(skeleton->progs.on_allocator_exec, use);
	if (!use)
		return;
	bpf_map__set_autocreate(skeleton->maps.calls, true);
	bpf_map__set_autocreate(skeleton->maps.call_counters, true);
	bpf_program__set_autoload(skeleton->progs.on_caller_exit, true);
	bpf_program__set_autoload(skeleton->progs.on_caller_exec, true);
}

static void configure(const struct plan *plan, struct stacktally *skeleton,
		      struct wire_config *config, uint32_t sets)
{
	uint32_t threads = 2 * threads_count() + SPARE_THREADS;

	(void)plan, (void)config, (void)sets;
	bpf_map__set_max_entries(skeleton->maps.calls, threads);
	bpf_map__set_max_entries(skeleton->maps.allocations, threads);
	bpf_map__set_max_entries(skeleton->maps.blocks, BLOCKS_MAX);
}

static void close_blocks(struct gauge *gauge)
{
	free(blocks_of(gauge));
}

static int attach_ends(struct stacktally *skeleton, struct error *err)
{
	skeleton->links.on_caller_exit = bpf_program__attach(skeleton->progs.on_caller_exit);
	skeleton->links.on_caller_exec = bpf_program__attach(skeleton->progs.on_caller_exec);
	skeleton->links.on_allocator_exit = bpf_program__attach(skeleton->progs.on_allocator_exit);
	skeleton->links.on_allocator_exec = bpf_program__attach(skeleton->progs.on_allocator_exec);
	if (!skeleton->links.on_caller_exit || !skeleton->links.on_caller_exec ||
	    !skeleton->links.on_allocator_exit || !skeleton->links.on_allocator_exec)
		return error_set(err, -errno, "cannot follow the ends of threads: %s",
				 strerror(errno));
	return 0;
}

static int open_blocks(const struct plan *plan, struct stacktally *skeleton, struct drain *drain,
		       struct gauge **ret_gauge, struct error *err)
{
	struct blocks *blocks = calloc(1, sizeof(*blocks));
	int r;

	if (!blocks)
		return error_set(err, -ENOMEM, "out of memory");
	blocks->gauge.ops = &gauge_blocks;
	blocks->plan = plan;
	blocks->skeleton = skeleton;
	blocks->drain = drain;
	blocks->stacks = stack_sets_of(drain_stacks(drain), 0);
	r = attach_ends(skeleton, err);
	if (r < 0) {
		close_blocks(&blocks->gauge);
		return r;
	}
	*ret_gauge = &blocks->gauge;
	return 0;
}

/* ---- draining ---- */

/*
 * Whether a block counts no longer: the memory of a process that has ended, or that has begun
 * another program, is free, but what a chosen process has left is what was asked for.
 */
static bool is_over(const struct blocks *blocks, const struct wire_block *block)
{
	return !blocks->plan->command && !blocks->plan->filter.tgids.n && block->tgid &&
	       drain_has_ended(blocks->drain, (pid_t)block->tgid, block->since);
}

static bool is_old(const struct blocks *blocks, const struct wire_block *block, uint64_t now)
{
	return block->since + (uint64_t)(blocks->plan->calls.older * NS_IN_S) <= now;
}

/* Adds a block to its stack, if a report follows, and keeps the stack. */
static int take_block(struct blocks *blocks, const struct wire_block *block,
		      const struct gauge_epoch *epoch, struct tally *tally)
{
	const struct stack_sum sum = { .n = 1, .sum = block->size, .largest = block->size };
	int r = 0;

	epoch_stacks_hold(blocks->stacks, &block->stack);
	if (epoch->report && is_old(blocks, block, epoch->now))
		r = epoch_stacks_sum(blocks->stacks, &block->stack, &sum);
	if (r != -ENOENT)
		return r;
	tally_losses(tally)->lost_values++;
	return 0;
}

static int take_batch(struct blocks *blocks, uint32_t n, const struct gauge_epoch *epoch,
		      struct tally *tally)
{
	int map = bpf_map__fd(blocks->skeleton->maps.blocks), r = 0;

	for (uint32_t i = 0; r == 0 && i < n; i++) {
		if (is_over(blocks, &blocks->list[i]))
			bpf_map_delete_elem(map, &blocks->keys[i]);
		else if (blocks->keys[i].space % WIRE_BLOCK_KINDS != WIRE_BLOCK_END)
			r = take_block(blocks, &blocks->list[i], epoch, tally);
	}
	return r;
}

static int take_blocks(struct blocks *blocks, const struct gauge_epoch *epoch, struct tally *tally)
{
	LIBBPF_OPTS(bpf_map_batch_opts, options);
	int map = bpf_map__fd(blocks->skeleton->maps.blocks), r = 0, more = 0;
	uint32_t position, n;
	bool begun = false;

	/* Buckets are longer than a batch at no time: more than half of the entries are free. */
	while (r == 0 && more == 0) {
		n = BATCH;
		more = bpf_map_lookup_batch(map, begun ? &position : NULL, &position, blocks->keys,
					    blocks->list, &n, &options);
		begun = true;
		if (more == 0 || more == -ENOENT)
			r = take_batch(blocks, n, epoch, tally);
	}
	return r < 0 || more == -ENOENT ? r : more;
}

static int drain_blocks(struct gauge *gauge, const struct gauge_epoch *epoch, struct tally *tally,
			struct error *err)
{
	struct blocks *blocks = blocks_of(gauge);
	int r;

	if (!epoch->report && epoch_stacks_hold_all(blocks->stacks, STACKS_MAX))
		return 0;
	r = take_blocks(blocks, epoch, tally);
	return r < 0 ? error_set(err, r, "cannot add up the blocks: %s", strerror(-r)) : 0;
}

static int add_losses(struct gauge *gauge, struct tally_losses *losses, struct error *err)
{
	struct blocks *blocks = blocks_of(gauge);
	struct wire_block_counters now;
	int r = counters_read(blocks->skeleton->maps.block_counters, &now, sizeof(now));

	if (r < 0)
		return error_set(err, r, "cannot read the counters: %s", strerror(-r));
	losses->unallocated += now.unallocated - blocks->before.unallocated;
	losses->lost_blocks += now.lost_blocks - blocks->before.lost_blocks;
	losses->lost_bytes += now.lost_bytes - blocks->before.lost_bytes;
	losses->replaced_blocks += now.replaced - blocks->before.replaced;
	losses->unmapped += now.unmapped - blocks->before.unmapped;
	blocks->before = now;
	return 0;
}

/* Stacks are known by their hash alone: blocks refer to them. */
static int add_stack(struct epoch_stacks *stacks, struct tally *tally,
		     const struct wire_stack *stack, const uint64_t *frames)
{
	return epoch_stacks_enter(stacks, tally, stack, frames, 1);
}

const struct gauge_ops gauge_blocks = {
	.keeping = { .n_sets = 1, .of_event = 0, .add = add_stack, .end = epoch_stacks_keep },
	.least_sets = 256,
	.may_stop_command = true,
	.use_maps = use_maps,
	.configure = configure,
	.open = open_blocks,
	.close = close_blocks,
	.drain = drain_blocks,
	.losses = add_losses,
};
