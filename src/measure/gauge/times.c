// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Time off the CPU, from the kernel side (bpf/off_cpu.bpf.h) to the stacks
 * (drain/epoch_stacks.h).
 *
 * The kernel side adds the time of an absence when the thread is back. For threads that are still
 * off the CPU, the time so far is added here whenever an epoch is drained, and subtracted once the
 * kernel side has added the whole. Threads that were off the CPU when the measurement began are
 * found in /proc. Points in time are ns of CLOCK_MONOTONIC.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/own.h"
#include "gauge/counters.h"
#include "gauge/sleepers.h"
#include "gauge/threads.h"
#include "gauge/times_internal.h"
#include "stacktally.skel.h"

/* The map of threads has room for twice as many as there are now, and so many more. */
#define SPARE_THREADS 8192u

static struct times *times_of(struct gauge *gauge)
{
	return (struct times *)gauge;
}

/* ---- opening and closing ---- */

static void use_maps(struct stacktally *skeleton, bool use)
{
	bpf_map__set_autocreate(skeleton->maps.threads, use);
	bpf_map__set_autocreate(skeleton->maps.times, use);
	bpf_map__set_autocreate(skeleton->maps.off_cpu_counters, use);
	bpf_map__set_autocreate(skeleton->maps.off_cpu_scratchs, use);
	bpf_map__set_autocreate(skeleton->maps.sleeper, use);
	bpf_program__set_autoload(skeleton->progs.on_sleeper, use);
}

static void configure(const struct plan *plan, struct stacktally *skeleton,
		      struct wire_config *config, uint32_t sets)
{
	const struct plan_off_cpu *off_cpu = &plan->off_cpu;

	config->flags |= off_cpu->sample_ns ? WIRE_WALL : 0;
	*(struct wire_off_cpu_config *)&skeleton->rodata->off_cpu = (struct wire_off_cpu_config){
		.wakers = off_cpu->wakers,
		.budget = off_cpu->budget < 100
				  ? (uint32_t)(WIRE_BUDGET_WINDOW / 100 * off_cpu->budget)
				  : 0,
		.least = off_cpu->least_us * NS_IN_US,
		.most = off_cpu->most_us ? off_cpu->most_us * NS_IN_US : UINT64_MAX,
		.state = off_cpu->state,
		.only = !off_cpu->by_state ? WIRE_STATES_ALL
			: off_cpu->state   ? WIRE_STATES_SOME
					   : WIRE_STATES_RUNNING,
	};
	bpf_map__set_max_entries(skeleton->maps.times, sets);
	bpf_map__set_max_entries(skeleton->maps.threads, 2 * threads_count() + SPARE_THREADS);
}

static size_t sets_size(const struct times *times)
{
	return (size_t)times->n_sets * WIRE_EPOCHS * sizeof(struct wire_times);
}

static void close_times(struct gauge *gauge)
{
	struct times *times = times_of(gauge);

	if (times->sets)
		munmap(times->sets, sets_size(times));
	times_clear_absences(times);
	times_clear_places(times);
	sleepers_free(times->sleepers);
	free(times->tids);
	free(times->threads);
	free(times);
}

static int map_sets(struct times *times, struct error *err)
{
	const struct bpf_map *map = times->skeleton->maps.times;
	void *sets;

	times->n_sets = bpf_map__max_entries(map) / WIRE_EPOCHS;
	sets = mmap(NULL, sets_size(times), PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map),
		    0);
	if (sets == MAP_FAILED)
		return error_set(err, -errno, "cannot map the times: %s", strerror(errno));
	times->sets = sets;
	return 0;
}

static int open_times(const struct plan *plan, struct stacktally *skeleton, struct drain *drain,
		      struct gauge **ret_gauge, struct error *err)
{
	struct times *times = calloc(1, sizeof(*times));
	int r;

	if (!times)
		return error_set(err, -ENOMEM, "out of memory");
	*times = (struct times){ .gauge = { .ops = &gauge_times },
				 .plan = plan,
				 .skeleton = skeleton,
				 .drain = drain,
				 .stacks = stack_sets_of(drain_stacks(drain), 0),
				 .max_threads = bpf_map__max_entries(skeleton->maps.threads) };
	times->tids = calloc(times->max_threads, sizeof(*times->tids));
	times->threads = calloc(times->max_threads, sizeof(*times->threads));
	r = times->tids && times->threads ? map_sets(times, err)
					  : error_set(err, -ENOMEM, "out of memory");
	if (r < 0) {
		close_times(&times->gauge);
		return r;
	}
	drain_set_taker(drain, WIRE_KIND_TIME,
			&(struct record_taker){ sizeof(struct wire_time), times_take, times });
	drain_set_taker(drain, WIRE_KIND_PAIR,
			&(struct record_taker){ sizeof(struct wire_pair), times_take_pair, times });
	*ret_gauge = &times->gauge;
	return 0;
}

/* ---- the beginning ---- */

static int find_threads(struct gauge *gauge, struct error *err)
{
	struct times *times = times_of(gauge);

	return sleepers_find(times->plan, times->skeleton, times->drain, &times->sleepers, err);
}

static void begin(struct gauge *gauge, uint64_t now)
{
	struct times *times = times_of(gauge);

	times->began = now;
	times->skeleton->bss->off_cpu_began = now;
}

static int walk_threads(struct gauge *gauge, struct unwinder *unwinder, uint64_t until,
			struct error *err)
{
	return sleepers_walk(times_of(gauge)->sleepers, unwinder, until, err);
}

static bool starves(const struct gauge *gauge)
{
	return sleepers_starve(((const struct times *)gauge)->sleepers);
}

static int list_threads(struct gauge *gauge, struct thread_list *list)
{
	return sleepers_list(times_of(gauge)->sleepers, list);
}

/* ---- draining ---- */

static int drain_times(struct gauge *gauge, const struct gauge_epoch *epoch, struct tally *tally,
		       struct error *err)
{
	struct times *times = times_of(gauge);
	int r = times_drain_sets(times, epoch->number, tally);

	if (r == 0)
		r = times_add_absences(times, epoch->now, epoch->final, tally);
	if (r == 0)
		r = times_add_early(times, tally);
	if (r < 0)
		return error_set(err, r, "cannot add up the time off the CPU: %s", strerror(-r));
	if (epoch->final)
		times_lose_early(times, tally_losses(tally));
	return 0;
}

static int add_losses(struct gauge *gauge, struct tally_losses *losses, struct error *err)
{
	struct times *times = times_of(gauge);
	struct wire_off_cpu_counters now;
	int r = counters_read(times->skeleton->maps.off_cpu_counters, &now, sizeof(now));

	if (r < 0)
		return error_set(err, r, "cannot read the counters: %s", strerror(-r));
	losses->lost_time += now.lost_time - times->before.lost_time;
	losses->lost_threads += now.lost_threads - times->before.lost_threads;
	losses->lost_ends += now.lost_ends - times->before.lost_ends;
	losses->unwalked += now.unwalked - times->before.unwalked;
	times->before = now;
	return 0;
}

/* Stacks are known by their hash alone: their times come later. That of a sleeper is no event. */
static int add_stack(struct epoch_stacks *stacks, struct tally *tally,
		     const struct wire_stack *stack, const uint64_t *frames)
{
	return epoch_stacks_enter(stacks, tally, stack, frames,
				  stack->flags & WIRE_STACK_ASLEEP ? 0 : 1);
}

const struct gauge_ops gauge_times = {
	.keeping = { .n_sets = 1, .of_event = 0, .add = add_stack, .end = epoch_stacks_keep },
	/* Each has a set of times beside it. */
	.least_sets = 128,
	.use_maps = use_maps,
	.configure = configure,
	.open = open_times,
	.close = close_times,
	.find = find_threads,
	.begin = begin,
	.walk = walk_threads,
	.drain = drain_times,
	.losses = add_losses,
	.starves = starves,
	.threads = list_threads,
};
