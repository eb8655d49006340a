// SPDX-License-Identifier: GPL-2.0-or-later
/* What of the plan, the trigger and the machine goes into the BPF object before it is loaded. */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include <bpf/libbpf.h>

#include "arch/address_bits.h"
#include "base/cpu_list.h"
#include "base/own.h"
#include "gauge/gauge.h"
#include "kernel/tracepoint_frames.h"
#include "loader/filters.h"
#include "loader/kernel_lookup.h"
#include "loader/kernel_side_internal.h"
#include "stacktally.skel.h"
#include "trigger/asked.h"

/*
 * Sets of counts for each CPU and epoch; bytes of all sets together. So many stacks of all CPUs end
 * an epoch that, where there are many, few are of each.
 */
#define SETS_MAX   4096u
#define SETS_BYTES (2u << 20)
/* Where captures on one CPU meet: scratch slots for all CPUs, and one more for so many CPUs. */
#define SPARES_MIN     32u
#define CPUS_PER_SPARE 32u
/*
 * Where a clock fires so often on a CPU at most: sets for the samples of some seconds, of which
 * each may be of a new stack, and bytes of the ring for those of one.
 */
#define SETS_SECONDS	8
#define RING_LEAST	(512u << 10)
#define RING_PER_SAMPLE (2u << 10)
/* Stacks that end an epoch: then two thirds of the places in the sets are taken. */
#define EPOCH_PER_SET 2
#define EPOCH_STACKS  16384u /* at most: some 5 MB */
/* Processes that a measurement of few ones has room for: their children take the rest. */
#define PROCESSES_LEAST 64u
/* Bytes of the ring buffer: powers of two, as the kernel demands. */
#define RING_MIN     (2u << 20)
#define RING_PER_CPU (32u << 10)
#define RING_MAX     (64u << 20)
/*
 * Times that where names are looked up while sampling goes on. Meanwhile nothing is drained, for
 * seconds if there are a hundred new files.
 */
#define RING_NAMING 8

static uint32_t power_of_two(uint64_t at_least)
{
	uint32_t power = 1;

	while (power < at_least && power < 1u << 31)
		power *= 2;
	return power;
}

/* One more than the highest number of a possible CPU. */
static int count_cpu_numbers(uint32_t *ret_n, struct error *err)
{
	own(cpu_list_clear) struct cpu_list possible = { 0 };
	int r = cpu_list_read(CPU_LIST_POSSIBLE, &possible);

	if (r == 0 && possible.n == 0)
		r = -EINVAL;
	if (r < 0)
		return error_set(err, r, "cannot read " CPU_LIST_POSSIBLE ": %s", strerror(-r));
	*ret_n = (uint32_t)possible.cpus[possible.n - 1] + 1;
	return 0;
}

static uint32_t bounded(uint64_t value, uint32_t least, uint32_t most)
{
	return value < least ? least : value > most ? most : (uint32_t)value;
}

/* For each CPU and epoch. */
static uint32_t sets_for(const struct plan *plan, const struct trigger *trigger)
{
	uint32_t least = gauge_of(plan)->least_sets;

	return trigger->rate ? power_of_two(bounded(trigger->rate * SETS_SECONDS, least, SETS_MAX))
			     : SETS_MAX;
}

static uint32_t ring_for(const struct trigger *trigger, uint64_t cpus)
{
	uint32_t least = trigger->rate ? bounded(trigger->rate * cpus * RING_PER_SAMPLE, RING_LEAST,
						 RING_MIN)
				       : RING_MIN;

	return power_of_two(bounded(cpus * RING_PER_CPU, least, RING_MAX));
}

static void size_maps(const struct plan *plan, const struct trigger *trigger, uint64_t cpus,
		      struct kernel_side *side, struct wire_config *config)
{
	struct stacktally *skeleton = side->skeleton;
	bool naming = plan->tui || plan->interval > 0;

	config->cpus = (uint32_t)cpus;
	config->sets = sets_for(plan, trigger);
	while (config->sets > gauge_of(plan)->least_sets &&
	       cpus * config->sets * WIRE_EPOCHS * sizeof(struct wire_counts) > SETS_BYTES)
		config->sets /= 2;
	side->n_sets = cpus * config->sets;
	bpf_map__set_max_entries(skeleton->maps.counts, (uint32_t)side->n_sets * WIRE_EPOCHS);
	side->epoch_stacks = bounded(side->n_sets * EPOCH_PER_SET, 1, EPOCH_STACKS);
	side->ring_size = ring_for(trigger, cpus);
	if (naming && side->ring_size < RING_MAX)
		side->ring_size *= RING_NAMING;
	bpf_map__set_max_entries(skeleton->maps.ring, side->ring_size);
}

static uint32_t unwind_of(enum plan_unwind unwind)
{
	switch (unwind) {
	case PLAN_UNWIND_AUTO:
		return WIRE_UNWIND_AUTO;
	case PLAN_UNWIND_CFI:
		return WIRE_UNWIND_CFI;
	case PLAN_UNWIND_NONE:
		return WIRE_UNWIND_NONE;
	case PLAN_UNWIND_FP:
		break;
	}
	return WIRE_UNWIND_FP;
}

static bool plan_has_tables(const struct plan *plan)
{
	return plan->user && (plan->unwind == PLAN_UNWIND_AUTO || plan->unwind == PLAN_UNWIND_CFI);
}

/* Whether programs can ask the kernel what is mapped where (7c7e3d31e785, Linux 5.17). */
static bool can_ask(void)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_find_vma, NULL) == 1;
}

static void size_tables(const struct plan *plan, const struct kernel_side *side, bool may_ask)
{
	struct stacktally *skeleton = side->skeleton;
	uint32_t chosen = plan_chosen(plan) ? plan->filter.tgids.n : 0;

	if (!may_ask)
		bpf_map__set_max_entries(skeleton->maps.unwind_files, 1);
	if (!side->has_tables) {
		bpf_map__set_max_entries(skeleton->maps.unwind_segments, 1);
		bpf_map__set_max_entries(skeleton->maps.unwind_rules, 1);
		bpf_map__set_max_entries(skeleton->maps.unwind_processes, 1);
		return;
	}
	if (chosen)
		bpf_map__set_max_entries(skeleton->maps.unwind_processes,
					 bounded(chosen * 2ull, PROCESSES_LEAST,
						 WIRE_MAX_PROCESSES));
	bpf_program__set_autoload(skeleton->progs.on_fork, true);
	bpf_program__set_autoload(skeleton->progs.on_exec, true);
	bpf_program__set_autoload(skeleton->progs.on_end, true);
}

/*
 * Frames to capture of a kernel stack: room for the tracing frames, which are cut off later, as far
 * as the limit of the kernel's walk allows.
 */
static uint32_t kernel_depth(const struct plan *plan, const struct trigger *trigger,
			     uint32_t max_stack)
{
	uint32_t depth = plan->kernel_depth;

	if (trigger->frames != TRIGGER_FRAMES_NONE)
		depth += TRACEPOINT_FRAMES_MAX;
	if (max_stack > WIRE_MAX_DEPTH)
		max_stack = WIRE_MAX_DEPTH;
	return depth < max_stack ? depth : max_stack;
}

static int fill_config(const struct plan *plan, const struct trigger *trigger, uint32_t max_stack,
		       struct wire_config *config, struct error *err)
{
	config->flags |= plan->user ? WIRE_USER : 0;
	config->flags |= plan->kernel ? WIRE_KERNEL : 0;
	config->flags |= plan->per_thread ? WIRE_PER_THREAD : 0;
	config->flags |= plan->per_cgroup ? WIRE_CGROUP_ID : 0;
	config->flags |= trigger->user_entry ? WIRE_USER_ENTRY : 0;
	config->flags |= plan->native ? WIRE_NATIVE : 0;
	config->flags |= plan->near ? WIRE_NEAR : 0;
	config->flags |= plan->lines || plan->dump ? WIRE_LINES : 0;
	config->user_depth = plan->user_depth;
	config->kernel_depth = kernel_depth(plan, trigger, max_stack);
	config->unwind = unwind_of(plan->unwind);
	config->address_bits = arch_address_bits();
	if (getrandom(config->seed, sizeof(config->seed), 0) != sizeof(config->seed))
		return error_set(err, -EIO, "cannot get random bytes: %s", strerror(errno));
	return 0;
}

int kernel_side_configure(const struct plan *plan, struct trigger *trigger, uint32_t max_stack,
			  struct kernel_side *side, struct error *err)
{
	struct stacktally *skeleton = side->skeleton;
	struct wire_config config = { 0 };
	uint32_t cpus = 0;
	int r = count_cpu_numbers(&cpus, err);

	if (r < 0)
		return r;
	side->has_tables = plan_has_tables(plan);
	trigger->scope.may_ask = side->has_tables && can_ask();
	trigger->scope.asks = plan->filter.condition || plan->sum;
	r = trigger->ops->select(trigger, skeleton->obj, err);
	if (r == 0)
		r = asked_compile(trigger, plan->filter.condition, plan->sum,
				  (struct wire_expressions *)&skeleton->rodata->expressions,
				  &config.flags, err);
	if (r < 0)
		return r;
	r = filters_configure(plan, skeleton, &config, err);
	if (r < 0)
		return r;
	r = fill_config(plan, trigger, max_stack, &config, err);
	if (r < 0)
		return r;
	size_maps(plan, trigger, cpus, side, &config);
	gauge_configure(plan, skeleton, &config, (uint32_t)side->n_sets * WIRE_EPOCHS);
	config.spares = trigger->ops->meet ? SPARES_MIN + cpus / CPUS_PER_SPARE : 0;
	bpf_map__set_max_entries(skeleton->maps.scratch, cpus + config.spares);
	config.wake_at = (uint32_t)side->ring_size / 4;
	*(struct wire_config *)&skeleton->rodata->config = config;
	memcpy(side->seed, config.seed, sizeof(side->seed));
	side->follows_forks = config.flags & WIRE_FOLLOW_FORKS || side->has_tables;
	size_tables(plan, side, trigger->scope.may_ask);
	if (plan->kernel)
		kernel_lookup_select(skeleton);
	return 0;
}
