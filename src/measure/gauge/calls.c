// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Times of calls, from the kernel side (bpf/calls.bpf.h) to the stacks (drain/epoch_stacks.h). The
 * time of a call is added when it returns, to the stack that made it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/own.h"
#include "bpf/calls_wire.h"
#include "gauge/counters.h"
#include "gauge/gauge.h"
#include "gauge/sum_sets.h"
#include "gauge/threads.h"
#include "stacktally.skel.h"

/* The map of calls has room for twice as many threads as there are now, and so many more. */
#define SPARE_THREADS 8192u

struct calls {
	struct gauge gauge;
	struct stacktally *skeleton;
	struct sum_sets sums;
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
	bpf_map__set_autocreate(skeleton->maps.call_counters, use);
	bpf_program__set_autoload(skeleton->progs.on_caller_exit, use);
	bpf_program__set_autoload(skeleton->progs.on_caller_exec, use);
}

static void configure(const struct plan *plan, struct stacktally *skeleton,
		      struct wire_config *config, uint32_t sets)
{
	(void)plan, (void)config;
	sum_sets_configure(skeleton, sets);
	bpf_map__set_max_entries(skeleton->maps.calls, 2 * threads_count() + SPARE_THREADS);
}

static void close_calls(struct gauge *gauge)
{
	struct calls *calls = calls_of(gauge);

	sum_sets_close(&calls->sums);
	free(calls->keys);
	free(calls->list);
	free(calls);
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
				 .capacity = bpf_map__max_entries(skeleton->maps.calls) };
	calls->keys = calloc(calls->capacity, sizeof(*calls->keys));
	calls->list = calloc(calls->capacity, sizeof(*calls->list));
	r = calls->keys && calls->list ? sum_sets_open(&calls->sums, skeleton, drain, err)
				       : error_set(err, -ENOMEM, "out of memory");
	if (r == 0)
		r = attach_ends(skeleton, err);
	if (r < 0) {
		close_calls(&calls->gauge);
		return r;
	}
	*ret_gauge = &calls->gauge;
	return 0;
}

/* ---- draining ---- */

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
		epoch_stacks_hold(calls->sums.stacks, &calls->list[i].stack);
		n++;
	}
	return n;
}

static int drain_calls(struct gauge *gauge, const struct gauge_epoch *epoch, struct tally *tally,
		       struct error *err)
{
	struct calls *calls = calls_of(gauge);
	uint32_t under_way;
	int r = sum_sets_drain(&calls->sums, epoch->number);

	if (r == 0)
		r = copy_calls(calls);
	if (r < 0)
		return error_set(err, r, "cannot add up the calls: %s", strerror(-r));
	under_way = hold_stacks(calls);
	if (!epoch->final)
		return 0;
	tally_losses(tally)->lost_values += sum_sets_lose(&calls->sums);
	tally_losses(tally)->unreturned += under_way;
	return 0;
}

static int add_losses(struct gauge *gauge, struct tally_losses *losses, struct error *err)
{
	struct calls *calls = calls_of(gauge);
	struct wire_call_counters now;
	int r = counters_read(calls->skeleton->maps.call_counters, &now, sizeof(now));

	if (r < 0)
		return error_set(err, r, "cannot read the counters: %s", strerror(-r));
	losses->unreturned += now.unreturned - calls->before.unreturned;
	losses->unentered += now.unentered - calls->before.unentered;
	losses->lost_calls += now.lost_calls - calls->before.lost_calls;
	losses->lost_values += now.lost_values - calls->before.lost_values;
	calls->before = now;
	return 0;
}

const struct gauge_ops gauge_calls = {
	.keeping = { .n_sets = 1,
		     .of_event = 0,
		     .add = sum_sets_add_stack,
		     .end = epoch_stacks_keep },
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
