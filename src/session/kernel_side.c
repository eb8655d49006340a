// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/kernel_side.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/cpu_list.h"
#include "base/own.h"
#include "kernel/kernel_tables.h"
#include "kernel/lockdown.h"
#include "kernel/tracepoint_frames.h"
#include "session/filters.h"
#include "session/kernel_lookup.h"
#include "stacktally.skel.h"
#include "unwind/unwind_maps.h"

/* Sets of counts for each CPU and epoch, and their bytes for all of those. */
#define SETS_MIN   256u
#define SETS_MAX   4096u
#define SETS_BYTES (32u << 20)
/* Bytes of all scratch slots, where a CPU has more than two. */
#define SLOTS_BYTES (64u << 20)
/* Bytes of ring: powers of two, as the kernel wants them. */
#define RING_MIN     (2u << 20)
#define RING_PER_CPU (512u << 10)
#define RING_MAX     (64u << 20)
/* So many times that, where names are looked up in between: nothing is drained meanwhile, which
 * may be seconds when a hundred new files were seen. */
#define RING_NAMING 8

static uint32_t power_of_two(uint64_t at_least)
{
	uint32_t power = 1;

	while (power < at_least && power < 1u << 31)
		power *= 2;
	return power;
}

/* Numbers of CPUs are below *ret_n. */
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

static void size_maps(const struct plan *plan, uint64_t cpus, struct kernel_side *side,
		      struct wire_config *config)
{
	struct stacktally *skeleton = side->skeleton;
	bool naming = plan->tui || plan->interval > 0;

	config->cpus = (uint32_t)cpus;
	config->sets = SETS_MAX;
	while (config->sets > SETS_MIN &&
	       cpus * config->sets * WIRE_EPOCHS * sizeof(struct wire_counts) > SETS_BYTES)
		config->sets /= 2;
	side->n_sets = cpus * config->sets;
	bpf_map__set_max_entries(skeleton->maps.counts, (uint32_t)side->n_sets * WIRE_EPOCHS);
	side->ring_size = power_of_two(bounded(cpus * RING_PER_CPU, RING_MIN, RING_MAX));
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

/*
 * The clock fires once at a time on a CPU. So do, since Linux 6.1, raw tracepoints. Before that the
 * kernel lets the program be hit while it runs, even where it holds a lock of the ring: it goes no
 * further than to see that there is no second slot.
 */
static uint32_t n_slots(const struct trigger *trigger, uint64_t cpus, uint32_t slot_size)
{
	uint32_t slots = trigger->ops->preempted ? WIRE_MAX_SLOTS : WIRE_NESTED_SLOTS;

	if (!trigger->ops->preempted &&
	    (trigger->delivery == TRIGGER_DELIVERS_RAW_TRACEPOINT || trigger->ops->stop_settles))
		return 1;
	while (slots > 2 && slots * cpus * slot_size > SLOTS_BYTES)
		slots /= 2;
	return slots;
}

static bool has_tables(const struct plan *plan)
{
	return plan->user && (plan->unwind == PLAN_UNWIND_AUTO || plan->unwind == PLAN_UNWIND_CFI);
}

/* Those that are not read are kept as small as they can be. */
static void size_tables(const struct plan *plan, struct stacktally *skeleton)
{
	if (!has_tables(plan)) {
		bpf_map__set_max_entries(skeleton->maps.unwind_segments, 1);
		bpf_map__set_max_entries(skeleton->maps.unwind_rules, 1);
		bpf_map__set_max_entries(skeleton->maps.unwind_processes, 1);
		return;
	}
	bpf_program__set_autoload(skeleton->progs.on_fork, true);
	bpf_program__set_autoload(skeleton->progs.on_exec, true);
	bpf_program__set_autoload(skeleton->progs.on_exit, true);
}

/*
 * A kernel stack that is deeper than the kernel walks loses what delivered it from its root's end,
 * which shows as cut: 16 KiB of a stack hardly have so many frames.
 */
static uint32_t kernel_depth(const struct plan *plan, const struct trigger *trigger,
			     uint32_t most_frames)
{
	uint32_t depth = plan->kernel_depth;

	if (trigger->delivery != TRIGGER_DELIVERS_NOTHING)
		depth += TRACEPOINT_FRAMES_MAX;
	if (most_frames > WIRE_MAX_DEPTH)
		most_frames = WIRE_MAX_DEPTH;
	return depth < most_frames ? depth : most_frames;
}

static int fill_config(const struct plan *plan, const struct trigger *trigger, uint32_t most_frames,
		       struct wire_config *config, struct error *err)
{
	config->flags |= plan->user ? WIRE_USER : 0;
	config->flags |= plan->kernel ? WIRE_KERNEL : 0;
	config->flags |= plan->per_thread ? WIRE_PER_THREAD : 0;
	config->flags |= plan->per_cgroup ? WIRE_CGROUP_ID : 0;
	config->flags |= trigger->user_entry ? WIRE_USER_ENTRY : 0;
	config->user_depth = plan->user_depth;
	config->kernel_depth = kernel_depth(plan, trigger, most_frames);
	config->unwind = unwind_of(plan->unwind);
	if (getrandom(config->seed, sizeof(config->seed), 0) != sizeof(config->seed))
		return error_set(err, -EIO, "cannot get random bytes: %s", strerror(errno));
	return 0;
}

/* libbpf lifts the limit where it counts and we may. */
static bool memory_is_limited(void)
{
	struct rlimit limit;

	return geteuid() != 0 && getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
	       limit.rlim_cur != RLIM_INFINITY;
}

static int explain_load(int code, struct error *err)
{
	char mode[LOCKDOWN_MODE_SIZE];

	if (code == -EMFILE || code == -ENFILE || code == -ENOMEM)
		return error_set(err, code, "cannot load the BPF programs: %s", strerror(-code));
	if (access(KERNEL_TYPES_PATH, R_OK) < 0)
		return error_privilege(err, code,
				       "this kernel does not describe its types: there is "
				       "no " KERNEL_TYPES_PATH " (CONFIG_DEBUG_INFO_BTF)");
	/* Confidentiality takes away what reads kernel memory: calls of it are then invalid. */
	if (geteuid() == 0 && lockdown_mode(mode) && strcmp(mode, "confidentiality") == 0)
		return error_privilege(err, code,
				       "the kernel refuses to load the BPF programs: %s: kernel "
				       "lockdown (%s) forbids it",
				       strerror(-code), mode);
	if (code == -EPERM && memory_is_limited())
		return error_privilege(err, code,
				       "the kernel refuses to load the BPF programs: %s; before "
				       "Linux 5.11 they count as locked memory: it takes `ulimit "
				       "-l unlimited`, or CAP_SYS_RESOURCE; -v shows its reasons",
				       strerror(-code));
	if (code == -EPERM || code == -EACCES)
		return error_privilege(err, code,
				       "the kernel refuses to load the BPF programs: %s (kernel "
				       "lockdown, see /sys/kernel/security/lockdown, or missing "
				       "capabilities); -v shows its reasons",
				       strerror(-code));
	return error_privilege(
		err, code, "the kernel refuses to load the BPF programs: %s; -v shows its reasons",
		strerror(-code));
}

static int open_object(struct kernel_side *side, struct trigger *trigger, struct error *err)
{
	LIBBPF_OPTS(bpf_object_open_opts, options);
	bool *ret_preempted = NULL;
	int r = kernel_types_new(&side->types, err);

	if (r < 0)
		return r;
	if (side->types.fd >= 0)
		options.btf_custom_path = side->types.path;
	side->skeleton = stacktally__open_opts(&options);
	if (!side->skeleton)
		return error_set(err, -errno, "cannot open the BPF object: %s", strerror(errno));
	trigger->scope.preempted_tracepoints = true; /* unless it is known better */
	if (trigger->delivery != TRIGGER_DELIVERS_NOTHING)
		ret_preempted = &trigger->scope.preempted_tracepoints;
	if (side->types.fd < 0)
		return 0;
	return kernel_types_fill(&side->types, bpf_object__btf(side->skeleton->obj), ret_preempted,
				 err);
}

/* Makes a map as libbpf would, which then finds it made. */
static int make_map(struct bpf_map *map, int inner, int *ret_fd)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = bpf_map__map_flags(map),
		    .inner_map_fd = (uint32_t)inner);

	*ret_fd = bpf_map_create(bpf_map__type(map), bpf_map__name(map), bpf_map__key_size(map),
				 bpf_map__value_size(map), bpf_map__max_entries(map), &options);
	return *ret_fd < 0 ? *ret_fd : bpf_map__reuse_fd(map, *ret_fd);
}

static int make_tables(struct kernel_side *side)
{
	struct stacktally *skeleton = side->skeleton;
	own(own_fd) int segment = unwind_maps_new_segment();
	int r = segment;

	if (r >= 0)
		r = make_map(skeleton->maps.unwind_segments, segment, &side->segments);
	if (r == 0)
		r = make_map(skeleton->maps.unwind_rules, 0, &side->rules);
	return r < 0 ? r : make_map(skeleton->maps.unwind_processes, 0, &side->processes);
}

static int open_and_configure(const struct plan *plan, struct trigger *trigger,
			      uint32_t most_frames, struct kernel_side *side, struct error *err)
{
	struct wire_config config = { 0 };
	uint32_t cpus = 0;
	int r = open_object(side, trigger, err);

	if (r == 0)
		r = count_cpu_numbers(&cpus, err);
	if (r == 0)
		r = trigger->ops->choose(trigger, side->skeleton->obj, err);
	if (r == 0)
		r = filters_configure(plan, side->skeleton, &config, err);
	if (r == 0)
		r = fill_config(plan, trigger, most_frames, &config, err);
	if (r < 0)
		return r;
	size_maps(plan, cpus, side, &config);
	config.slots = n_slots(trigger, cpus, bpf_map__value_size(side->skeleton->maps.scratch));
	bpf_map__set_max_entries(side->skeleton->maps.scratch, config.slots * cpus);
	size_tables(plan, side->skeleton);
	if (plan->kernel)
		kernel_lookup_choose(side->skeleton);
	config.wake_at = (uint32_t)side->ring_size / 4;
	*(struct wire_config *)&side->skeleton->rodata->config = config;
	memcpy(side->seed, config.seed, sizeof(side->seed));
	side->follows_forks = config.flags & WIRE_FOLLOW_FORKS || has_tables(plan);
	r = has_tables(plan) ? make_tables(side) : 0;
	return r < 0 ? explain_load(r, err) : 0;
}

static size_t counts_size(const struct kernel_side *side)
{
	return side->n_sets * WIRE_EPOCHS * sizeof(struct wire_counts);
}

int kernel_side_load(struct kernel_side *side, struct error *err)
{
	struct stacktally *skeleton = side->skeleton;
	int r = stacktally__load(skeleton);
	void *counts;

	kernel_types_close(&side->types);
	if (r < 0)
		return explain_load(r, err);
	counts = mmap(NULL, counts_size(side), PROT_READ | PROT_WRITE, MAP_SHARED,
		      bpf_map__fd(skeleton->maps.counts), 0);
	if (counts == MAP_FAILED)
		return error_set(err, -errno, "cannot map the counts: %s", strerror(errno));
	side->counts = counts;
	r = epochs_new(counts, side->n_sets, &skeleton->bss->epoch, &side->epochs);
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

int kernel_side_open(const struct plan *plan, struct trigger *trigger, uint32_t most_frames,
		     struct kernel_side *ret_side, struct error *err)
{
	struct kernel_side side = KERNEL_SIDE_NONE;
	int r = open_and_configure(plan, trigger, most_frames, &side, err);

	if (r < 0) {
		kernel_side_close(&side);
		return r;
	}
	*ret_side = side;
	return 0;
}

void kernel_side_close(struct kernel_side *side)
{
	epochs_free(side->epochs);
	if (side->counts)
		munmap(side->counts, counts_size(side));
	stacktally__destroy(side->skeleton);
	kernel_types_close(&side->types);
	own_fd(&side->segments);
	own_fd(&side->rules);
	own_fd(&side->processes);
	*side = KERNEL_SIDE_NONE;
}

int kernel_side_follow_forks(struct kernel_side *side, struct error *err)
{
	struct stacktally *skeleton = side->skeleton;

	if (!side->follows_forks)
		return 0;
	skeleton->links.on_fork = bpf_program__attach(skeleton->progs.on_fork);
	skeleton->links.on_exec = bpf_program__attach(skeleton->progs.on_exec);
	skeleton->links.on_exit = bpf_program__attach(skeleton->progs.on_exit);
	if (!skeleton->links.on_fork || !skeleton->links.on_exec || !skeleton->links.on_exit)
		return error_set(err, -errno, "cannot follow forks: %s", strerror(errno));
	return 0;
}

void kernel_side_arm(struct kernel_side *side, bool armed)
{
	side->skeleton->bss->armed = armed;
}

uint64_t kernel_side_misses(const struct kernel_side *side)
{
	const struct stacktally *skeleton = side->skeleton;
	struct bpf_program *program;
	uint64_t misses = 0;

	bpf_object__for_each_program(program, skeleton->obj)
	{
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);

		if (program == skeleton->progs.on_fork || program == skeleton->progs.on_exec ||
		    program == skeleton->progs.on_exit || bpf_program__fd(program) < 0)
			continue;
		if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) == 0)
			misses += info.recursion_misses;
	}
	return misses;
}

int kernel_side_ring(const struct kernel_side *side)
{
	return bpf_map__fd(side->skeleton->maps.ring);
}

volatile struct wire_orc *kernel_side_orc(const struct kernel_side *side)
{
	return (volatile struct wire_orc *)&side->skeleton->bss->orc;
}

void kernel_side_tell_modules(const struct kernel_side *side)
{
	kernel_tables_tell_modules(bpf_map__fd(side->skeleton->maps.kernel_modules),
				   kernel_side_orc(side));
}

int kernel_side_counters(const struct kernel_side *side, struct wire_counters *ret_counters)
{
	uint32_t cpus = (uint32_t)libbpf_num_possible_cpus(), zero = 0;
	own(own_free) struct wire_counters *each = calloc(cpus, sizeof(*each));
	struct wire_counters sum = { 0 };

	if (!each)
		return -ENOMEM;
	if (bpf_map_lookup_elem(bpf_map__fd(side->skeleton->maps.counters), &zero, each) < 0)
		return -errno;
	for (uint32_t i = 0; i < cpus; i++) {
		sum.events += each[i].events;
		sum.lost_ring += each[i].lost_ring;
		sum.lost_nested += each[i].lost_nested;
		sum.lost_children += each[i].lost_children;
		sum.unfinished += each[i].unfinished;
		sum.withheld += each[i].withheld;
	}
	*ret_counters = sum;
	return 0;
}
