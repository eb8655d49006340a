// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Times of calls, from the kernel side (bpf/calls.bpf.h) to the stacks (drain/epoch_stacks.h). The
 * time of a call is added when it returns, to the stack that made it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/grow.h"
#include "base/own.h"
#include "bpf/calls_wire.h"
#include "gauge/gauge.h"
#include "gauge/threads.h"
#include "stacktally.skel.h"

/* The map of calls has room for twice as many threads as there are now, and so many more. */
#define SPARE_THREADS 8192u

/* Values of a stack whose walk is not finished yet. */
struct early_sum {
	struct wire_hash stack;
	struct stack_sum sum;
};

struct calls {
	struct gauge gauge;
	struct stacktally *skeleton;
	struct epoch_stacks *stacks; /* those of both epochs */
	struct wire_sums *sets;
	uint32_t n_sets; /* in each epoch */
	struct early_sum *early;
	uint32_t n_early, early_capacity;
	/* A copy of the map of calls. */
	uint64_t *keys;
	struct wire_call *list;
	uint32_t n, capacity;
	struct wire_call_counters before;
};

static struct calls *calls_of(struct gauge *gauge)
{
	return (struct calls *)gauge;
}

/* ---- opening and closing ---- */

static void use_maps(struct stacktally *skeleton, bool use)
{
	bpf_map__set_autocreate(skeleton->maps.calls, use);
	bpf_map__set_autocreate(skeleton->maps.sums, use);
	bpf_map__set_autocreate(skeleton->maps.call_counters, use);
	bpf_program__set_autoload(skeleton->progs.on_caller_exit, use);
	bpf_program__set_autoload(skeleton->progs.on_caller_exec, use);
}

static void configure(const struct plan *plan, struct stacktally *skeleton,
		      struct wire_config *config, uint32_t sets)
{
	(void)plan, (void)config;
	bpf_map__set_max_entries(skeleton->maps.sums, sets);
	bpf_map__set_max_entries(skeleton->maps.calls, 2 * threads_count() + SPARE_THREADS);
}

static size_t sets_size(const struct calls *calls)
{
	return (size_t)calls->n_sets * WIRE_EPOCHS * sizeof(struct wire_sums);
}

static void close_calls(struct gauge *gauge)
{
	struct calls *calls = calls_of(gauge);

	if (calls->sets)
		munmap(calls->sets, sets_size(calls));
	free(calls->early);
	free(calls->keys);
	free(calls->list);
	free(calls);
}

static int map_sets(struct calls *calls, struct error *err)
{
	const struct bpf_map *map = calls->skeleton->maps.sums;
	void *sets;

	calls->n_sets = bpf_map__max_entries(map) / WIRE_EPOCHS;
	sets = mmap(NULL, sets_size(calls), PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map),
		    0);
	if (sets == MAP_FAILED)
		return error_set(err, -errno, "cannot map the sums: %s", strerror(errno));
	calls->sets = sets;
	return 0;
}

/* Threads that end, or whose program is replaced, do not return. */
static int attach_ends(struct stacktally *skeleton, struct error *err)
{
	skeleton->links.on_caller_exit = bpf_program__attach(skeleton->progs.on_caller_exit);
	skeleton->links.on_caller_exec = bpf_program__attach(skeleton->progs.on_caller_exec);
	if (!skeleton->links.on_caller_exit || !skeleton->links.on_caller_exec)
		return error_set(err, -errno, "cannot follow the ends of threads: %s",
				 strerror(errno));
	return 0;
}

static int take_sum(void *context, const void *record, size_t size);

static int open_calls(const struct plan *plan, struct stacktally *skeleton, struct drain *drain,
		      struct gauge **ret_gauge, struct error *err)
{
	struct calls *calls = calloc(1, sizeof(*calls));
	int r;

	(void)plan;
	if (!calls)
		return error_set(err, -ENOMEM, "out of memory");
	*calls = (struct calls){ .gauge = { .ops = &gauge_calls },
				 .skeleton = skeleton,
				 .stacks = stack_sets_of(drain_stacks(drain), 0),
				 .capacity = bpf_map__max_entries(skeleton->maps.calls) };
	calls->keys = calloc(calls->capacity, sizeof(*calls->keys));
	calls->list = calloc(calls->capacity, sizeof(*calls->list));
	r = calls->keys && calls->list ? map_sets(calls, err)
				       : error_set(err, -ENOMEM, "out of memory");
	if (r == 0)
		r = attach_ends(skeleton, err);
	if (r < 0) {
		close_calls(&calls->gauge);
		return r;
	}
	drain_set_taker(drain, WIRE_KIND_SUM,
			&(struct record_taker){ sizeof(struct wire_sum), take_sum, calls });
	*ret_gauge = &calls->gauge;
	return 0;
}

/* ---- draining ---- */

/* Adds values to a stack, now or when it has come. */
static int add_sum(struct calls *calls, const struct wire_hash *stack, const struct stack_sum *sum)
{
	int r = epoch_stacks_sum(calls->stacks, stack, sum);

	if (r != -ENOENT)
		return r;
	r = grow(&calls->early, &calls->early_capacity, calls->n_early + 1);
	if (r == 0)
		calls->early[calls->n_early++] = (struct early_sum){ *stack, *sum };
	return r;
}

static int take_sum(void *context, const void *record, size_t size)
{
	const struct wire_sum *sum = record;

	(void)size;
	return add_sum(context, &sum->hash,
		       &(struct stack_sum){
			       .n = sum->n, .sum = sum->sum, .largest = sum->largest });
}

static int drain_sets(struct calls *calls, uint32_t epoch)
{
	struct wire_sums *sets = calls->sets + epoch * calls->n_sets;

	for (uint32_t i = 0; i < calls->n_sets; i++) {
		for (uint32_t way = 0; way < WIRE_SUMS; way++) {
			struct wire_hash hash = { sets[i].low[way], sets[i].high[way] };
			struct stack_sum sum = { .n = sets[i].n[way],
						 .sum = sets[i].sum[way],
						 .largest = sets[i].largest[way] };
			int r;

			if (!sum.n)
				continue;
			sets[i].n[way] = 0;
			r = add_sum(calls, &hash, &sum);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* Adds the values whose stack has come by now. */
static int add_early(struct calls *calls)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < calls->n_early; i++) {
		struct early_sum early = calls->early[i];
		int r = epoch_stacks_sum(calls->stacks, &early.stack, &early.sum);

		if (r == -ENOENT)
			calls->early[n++] = early;
		else if (r < 0)
			return r;
	}
	calls->n_early = n;
	return 0;
}

static int copy_calls(struct calls *calls)
{
	LIBBPF_OPTS(bpf_map_batch_opts, options);
	int map = bpf_map__fd(calls->skeleton->maps.calls);
	uint32_t position;
	bool begun = false;
	int r = 0;

	calls->n = 0;
	while (r == 0 && calls->n < calls->capacity) {
		uint32_t more = calls->capacity - calls->n;

		r = bpf_map_lookup_batch(map, begun ? &position : NULL, &position,
					 calls->keys + calls->n, calls->list + calls->n, &more,
					 &options);
		begun = true;
		if (r == 0 || r == -ENOENT)
			calls->n += more;
	}
	return r == -ENOENT ? 0 : r;
}

/* Keeps the stacks of calls that have not returned. Returns the number of these calls. */
static uint32_t hold_stacks(struct calls *calls)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < calls->n; i++) {
		if (!calls->list[i].began)
			continue;
		epoch_stacks_hold(calls->stacks, &calls->list[i].stack);
		n++;
	}
	return n;
}

static void lose_early(struct calls *calls, struct tally_losses *losses)
{
	for (uint32_t i = 0; i < calls->n_early; i++)
		losses->lost_values += calls->early[i].sum.n;
	calls->n_early = 0;
}

static int drain_calls(struct gauge *gauge, const struct gauge_epoch *epoch, struct tally *tally,
		       struct error *err)
{
	struct calls *calls = calls_of(gauge);
	uint32_t under_way;
	int r = drain_sets(calls, epoch->number);

	if (r == 0)
		r = add_early(calls);
	if (r == 0)
		r = copy_calls(calls);
	if (r < 0)
		return error_set(err, r, "cannot add up the calls: %s", strerror(-r));
	under_way = hold_stacks(calls);
	if (!epoch->final)
		return 0;
	lose_early(calls, tally_losses(tally));
	tally_losses(tally)->unreturned += under_way;
	return 0;
}

static int read_counters(const struct calls *calls, struct wire_call_counters *ret_sum)
{
	int map = bpf_map__fd(calls->skeleton->maps.call_counters);
	int cpus = libbpf_num_possible_cpus();
	own(own_free) struct wire_call_counters *each = NULL;
	uint32_t zero = 0;

	if (cpus < 0)
		return cpus;
	each = calloc((uint32_t)cpus, sizeof(*each));
	if (!each)
		return -ENOMEM;
	if (bpf_map_lookup_elem(map, &zero, each) < 0)
		return -errno;
	*ret_sum = (struct wire_call_counters){ 0 };
	for (int i = 0; i < cpus; i++) {
		ret_sum->unreturned += each[i].unreturned;
		ret_sum->unentered += each[i].unentered;
		ret_sum->lost_calls += each[i].lost_calls;
		ret_sum->lost_values += each[i].lost_values;
	}
	return 0;
}

static int add_losses(struct gauge *gauge, struct tally_losses *losses, struct error *err)
{
	struct calls *calls = calls_of(gauge);
	struct wire_call_counters now;
	int r = read_counters(calls, &now);

	if (r < 0)
		return error_set(err, r, "cannot read the counters: %s", strerror(-r));
	losses->unreturned += now.unreturned - calls->before.unreturned;
	losses->unentered += now.unentered - calls->before.unentered;
	losses->lost_calls += now.lost_calls - calls->before.lost_calls;
	losses->lost_values += now.lost_values - calls->before.lost_values;
	calls->before = now;
	return 0;
}

/* Stacks are known by their hash alone: their values come later. */
static int add_stack(struct epoch_stacks *stacks, struct tally *tally,
		     const struct wire_stack *stack, const uint64_t *frames)
{
	return epoch_stacks_enter(stacks, tally, stack, frames, 1);
}

const struct gauge_ops gauge_calls = {
	.keeping = { .n_sets = 1, .of_event = 0, .add = add_stack, .end = epoch_stacks_keep },
	/* Each has a set of sums beside it. */
	.least_sets = 128,
	.may_stop_command = true,
	.use_maps = use_maps,
	.configure = configure,
	.open = open_calls,
	.close = close_calls,
	.drain = drain_calls,
	.losses = add_losses,
};
