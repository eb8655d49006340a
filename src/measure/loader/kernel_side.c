// SPDX-License-Identifier: GPL-2.0-or-later
#include "loader/kernel_side.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/own.h"
#include "base/seccomp.h"
#include "bpf/interpreter_wire.h"
#include "kernel/capability.h"
#include "kernel/lockdown.h"
#include "kernel/orc_tables.h"
#include "loader/filters.h"
#include "loader/kernel_lookup.h"
#include "loader/kernel_side_internal.h"
#include "stacktally.skel.h"
#include "unwind/unwind_maps.h"

#define SPARE_DESCRIPTORS 16 /* for probes, and for the thread that makes tables meanwhile */

/* Whether BPF memory is limited; where the kernel counts it, libbpf lifts the limit if it may. */
static bool memory_is_limited(void)
{
	struct rlimit limit;

	return geteuid() != 0 && getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
	       limit.rlim_cur != RLIM_INFINITY;
}

/* The descriptors that a load takes at most, with the maps that we have made. */
static uint32_t descriptors_of_load(const struct kernel_side *side)
{
	const struct bpf_object *object = side->skeleton->obj;
	struct bpf_program *program;
	const struct bpf_map *map;
	uint32_t n = SPARE_DESCRIPTORS;

	bpf_object__for_each_map(map, object) n += bpf_map__autocreate(map);
	bpf_object__for_each_program(program, object) n += bpf_program__autoload(program);
	return n;
}

static bool can_open(uint32_t n)
{
	own(own_fd) int fd = n ? open("/", O_PATH | O_CLOEXEC) : -1;

	return n == 0 || (fd >= 0 && can_open(n - 1));
}

/*
 * Without a descriptor libbpf's probe of a feature fails, and the kernel then refuses what libbpf
 * makes for kernels without that feature.
 */
static int code_of_load(const struct kernel_side *side, int code)
{
	if (code == -ENOMEM || can_open(descriptors_of_load(side)))
		return code;
	return -EMFILE;
}

int kernel_side_explain(const struct kernel_side *side, int code, struct error *err)
{
	char mode[LOCKDOWN_MODE_SIZE], text[SECCOMP_REMEDY_SIZE];
	const char *filter;

	code = code_of_load(side, code);
	if (code == -EMFILE || code == -ENFILE)
		return error_set(err, code,
				 "cannot load the BPF programs: %s; raise the limit (ulimit -n)",
				 strerror(-code));
	if (code == -ENOMEM)
		return error_set(err, code, "cannot load the BPF programs: %s", strerror(-code));
	filter = seccomp_remedy("bpf", code, text, sizeof(text));
	if (filter)
		return error_privilege(err, code,
				       "the kernel refuses to load the BPF programs: %s; %s",
				       strerror(-code), filter);
	if (access(KERNEL_BTF_PATH, R_OK) < 0)
		return error_privilege(err, code,
				       "this kernel has no BTF: there is no " KERNEL_BTF_PATH
				       " (CONFIG_DEBUG_INFO_BTF)");
	/* In this mode the verifier rejects calls of helpers that read kernel memory. */
	if (geteuid() == 0 && lockdown_mode(mode) && strcmp(mode, "confidentiality") == 0)
		return error_privilege(err, code,
				       "the kernel refuses to load the BPF programs: %s: kernel "
				       "lockdown (%s) forbids it",
				       strerror(-code), mode);
	if (code == -EPERM && memory_is_limited())
		return error_privilege(err, code,
				       "the kernel refuses to load the BPF programs: %s; before "
				       "Linux 5.11 they count as locked memory, so this takes "
				       "`ulimit -l unlimited` or CAP_SYS_RESOURCE; -v (of "
				       "stackcount: --debug) shows the "
				       "kernel's reasons",
				       strerror(-code));
	/* Without capabilities the kernel says -EPERM; a security module may say the same as the
	 * verifier. */
	if (code == -EACCES && capability_check(NULL) == 0 && !lockdown_mode(mode))
		return error_set(
			err, code,
			"this kernel rejects a BPF program of this build: %s (its verifier "
			"or a security module); -v (of stackcount: --debug) shows which "
			"program, and why",
			strerror(-code));
	if (code == -EPERM || code == -EACCES)
		return error_privilege(
			err, code,
			"the kernel refuses to load the BPF programs: %s (kernel "
			"lockdown, see /sys/kernel/security/lockdown, or missing "
			"capabilities); -v (of stackcount: --debug) shows the kernel's reasons",
			strerror(-code));
	return error_privilege(err, code,
			       "the kernel refuses to load the BPF programs: %s; -v (of "
			       "stackcount: --debug) shows the kernel's reasons",
			       strerror(-code));
}

void kernel_side_opened(const struct bpf_object_skeleton *of)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)of->data;
	uintptr_t end = (begin + of->data_sz) & ~(page - 1);

	begin = (begin + page - 1) & ~(page - 1);
	if (begin < end)
		madvise((void *)begin, end - begin, MADV_DONTNEED);
}

static int open_object(struct kernel_side *side, struct trigger *trigger, struct error *err)
{
	LIBBPF_OPTS(bpf_object_open_opts, options);
	/* Unless the kernel's BTF says otherwise. */
	struct kernel_tracing tracing = { .raw_preemptible = true };
	int r = kernel_btf_new(&side->btf, err);

	if (r < 0)
		return r;
	if (side->btf.fd >= 0)
		options.btf_custom_path = side->btf.path;
	dead_code_load_set();
	side->skeleton = stacktally__open_opts(&options);
	if (!side->skeleton)
		return error_set(err, -errno, "cannot open the BPF object: %s", strerror(errno));
	kernel_side_opened(side->skeleton->skeleton);
	if (side->btf.fd >= 0)
		r = kernel_btf_fill(&side->btf, bpf_object__btf(side->skeleton->obj),
				    trigger->frames == TRIGGER_FRAMES_NONE ? NULL : &tracing, err);
	trigger->scope.raw_tracepoints_preemptible = tracing.raw_preemptible;
	trigger->scope.counts_refused = tracing.counts_refused;
	return r;
}

/* Makes a map as libbpf would, and has libbpf use it. */
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
	int r;

	if (segment < 0)
		return segment;
	r = make_map(skeleton->maps.unwind_segments, segment, &side->tables.segments);
	if (r < 0)
		return r;
	r = make_map(skeleton->maps.unwind_rules, 0, &side->tables.rules);
	if (r < 0)
		return r;
	r = make_map(skeleton->maps.unwind_files, 0, &side->tables.files);
	if (r < 0)
		return r;
	side->interpreters =
		bpf_map_create(BPF_MAP_TYPE_ARRAY, "interpreters", sizeof(uint32_t),
			       sizeof(struct wire_interpreter), WIRE_MAX_INTERPRETERS, NULL);
	if (side->interpreters < 0)
		return side->interpreters;
	return make_map(skeleton->maps.unwind_processes, 0, &side->tables.processes);
}

static int open_and_configure(const struct plan *plan, struct trigger *trigger, uint32_t max_stack,
			      struct kernel_side *side, struct error *err)
{
	int r = open_object(side, trigger, err);

	if (r < 0)
		return r;
	r = kernel_side_configure(plan, trigger, max_stack, side, err);
	if (r < 0 || !side->has_tables)
		return r;
	r = make_tables(side);
	return r < 0 ? kernel_side_explain(side, r, err) : 0;
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

	kernel_btf_close(&side->btf);
	malloc_trim(0); /* libbpf takes some MB to load it */
	if (r < 0)
		return kernel_side_explain(side, r, err);
	counts = mmap(NULL, counts_size(side), PROT_READ | PROT_WRITE, MAP_SHARED,
		      bpf_map__fd(skeleton->maps.counts), 0);
	if (counts == MAP_FAILED)
		return error_set(err, -errno, "cannot map the counts: %s", strerror(errno));
	side->counts = counts;
	r = epochs_new(counts, side->n_sets, &skeleton->bss->epoch, &side->epochs);
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

int kernel_side_open(const struct plan *plan, struct trigger *trigger, uint32_t max_stack,
		     struct kernel_side *ret_side, struct error *err)
{
	struct kernel_side side = KERNEL_SIDE_NONE;
	int r = open_and_configure(plan, trigger, max_stack, &side, err);

	if (r < 0) {
		kernel_side_close(&side);
		return r;
	}
	*ret_side = side;
	return 0;
}

int kernel_side_java(struct kernel_side *side)
{
	if (side->java < 0)
		side->java =
			bpf_map_create(BPF_MAP_TYPE_HASH, "java_processes", sizeof(uint32_t),
				       sizeof(struct wire_java_process), JAVA_MAX_PROCESSES, NULL);
	return side->java;
}

void kernel_side_close(struct kernel_side *side)
{
	epochs_free(side->epochs);
	if (side->counts)
		munmap(side->counts, counts_size(side));
	stacktally__destroy(side->skeleton);
	kernel_btf_close(&side->btf);
	own_fd(&side->tables.segments);
	own_fd(&side->tables.rules);
	own_fd(&side->tables.processes);
	own_fd(&side->tables.files);
	own_fd(&side->interpreters);
	own_fd(&side->java);
	*side = KERNEL_SIDE_NONE;
}

int kernel_side_unwind_maps(const struct kernel_side *side, struct unwind_maps **ret_maps,
			    struct error *err)
{
	int r = unwind_maps_kernel(&side->tables, &side->skeleton->bss->unwind_changes, ret_maps);

	return r < 0 ? error_set(err, r, "cannot set up unwinding tables: %s%s", strerror(-r),
				 error_remedy(r))
		     : 0;
}

static int follow_forks(struct kernel_side *side, struct error *err)
{
	struct stacktally *skeleton = side->skeleton;
	bool own_pidns = skeleton->rodata->config.flags & WIRE_OWN_PIDNS;

	if (!side->follows_forks)
		return 0;
	skeleton->links.on_fork = bpf_program__attach(skeleton->progs.on_fork);
	skeleton->links.on_exec = bpf_program__attach(skeleton->progs.on_exec);
	skeleton->links.on_end =
		bpf_program__attach_raw_tracepoint(skeleton->progs.on_end,
						   own_pidns ? "sched_process_exit"
							     : "sched_process_free");
	if (!skeleton->links.on_fork || !skeleton->links.on_exec || !skeleton->links.on_end)
		return error_set(err, -errno, "cannot follow forks: %s", strerror(errno));
	return 0;
}

/* Ends are told as in follow_forks(). */
static int follow_executable(struct stacktally *skeleton, struct error *err)
{
	bool own_pidns = skeleton->rodata->config.flags & WIRE_OWN_PIDNS;

	if (!(skeleton->rodata->config.flags & WIRE_FILTER_EXE))
		return 0;
	skeleton->links.on_exe_fork = bpf_program__attach(skeleton->progs.on_exe_fork);
	skeleton->links.on_exe_exec = bpf_program__attach(skeleton->progs.on_exe_exec);
	skeleton->links.on_exe_end =
		bpf_program__attach_raw_tracepoint(skeleton->progs.on_exe_end,
						   own_pidns ? "sched_process_exit"
							     : "sched_process_free");
	if (!skeleton->links.on_exe_fork || !skeleton->links.on_exe_exec ||
	    !skeleton->links.on_exe_end)
		return error_set(err, -errno, "cannot follow what processes execute: %s",
				 strerror(errno));
	return 0;
}

static int follow_cgroups(struct stacktally *skeleton, struct error *err)
{
	if (!(skeleton->rodata->config.flags & WIRE_FILTER_CGROUP))
		return 0;
	skeleton->links.on_cgroup_made = bpf_program__attach(skeleton->progs.on_cgroup_made);
	skeleton->links.on_cgroup_removed = bpf_program__attach(skeleton->progs.on_cgroup_removed);
	if (!skeleton->links.on_cgroup_made || !skeleton->links.on_cgroup_removed)
		return error_set(err, -errno, "cannot follow cgroups: %s", strerror(errno));
	return 0;
}

int kernel_side_filter(struct kernel_side *side, const struct plan *plan, pid_t command,
		       struct error *err)
{
	int r = follow_forks(side, err);

	if (r == 0)
		r = follow_cgroups(side->skeleton, err);
	if (r == 0)
		r = follow_executable(side->skeleton, err);
	if (r < 0)
		return r;
	r = filters_fill(plan, side->skeleton, err);
	if (r < 0 || !command)
		return r;
	return filters_add_process(side->skeleton, command, true, err);
}

int kernel_side_tgids(const struct kernel_side *side)
{
	return bpf_map__fd(side->skeleton->maps.tgids);
}

int kernel_side_cgroups(const struct kernel_side *side)
{
	return bpf_map__fd(side->skeleton->maps.cgroups);
}

void kernel_side_cgroup_changes(const struct kernel_side *side, uint64_t *ret_changes,
				uint64_t *ret_lost)
{
	const struct stacktally *skeleton = side->skeleton;

	*ret_changes = __atomic_load_n(&skeleton->data_groups->cgroup_changes, __ATOMIC_RELAXED);
	*ret_lost = __atomic_load_n(&skeleton->data_groups->cgroups_lost, __ATOMIC_RELAXED);
}

int kernel_side_attach(struct kernel_side *side, struct trigger *trigger, struct error *err)
{
	return trigger->ops->attach(trigger, side->skeleton->obj, err);
}

bool kernel_side_lookup(const struct kernel_side *side, struct kernel_lookup *ret_lookup)
{
	return kernel_lookup_get(side->skeleton, ret_lookup);
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
		    program == skeleton->progs.on_end || program == skeleton->progs.on_refusal ||
		    bpf_program__fd(program) < 0)
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

void kernel_side_write_modules(const struct kernel_side *side)
{
	orc_tables_write_modules(bpf_map__fd(side->skeleton->maps.kernel_modules),
				 kernel_side_orc(side));
}

uint64_t kernel_side_own_events(const struct kernel_side *side)
{
	return __atomic_load_n(&side->skeleton->bss->own_events, __ATOMIC_RELAXED);
}

int kernel_side_counters(const struct kernel_side *side, struct wire_counters *ret_counters,
			 struct clock_count *fired)
{
	int cpus = libbpf_num_possible_cpus();
	own(own_free) struct wire_counters *each = NULL;
	struct wire_counters sum = { 0 };
	uint32_t zero = 0;

	if (cpus < 0)
		return cpus;
	each = calloc((uint32_t)cpus, sizeof(*each));
	if (!each)
		return -ENOMEM;
	if (bpf_map_lookup_elem(bpf_map__fd(side->skeleton->maps.counters), &zero, each) < 0)
		return -errno;
	for (int i = 0; i < cpus; i++) {
		sum.events += each[i].events - each[i].unmet;
		sum.unmet += each[i].unmet;
		sum.lost_ring += each[i].lost_ring;
		sum.lost_nested += each[i].lost_nested;
		sum.lost_children += each[i].lost_children;
		sum.unfinished += each[i].unfinished;
		sum.withheld += each[i].withheld;
		sum.fired += each[i].fired;
		sum.failed += each[i].failed;
		sum.unread += each[i].unread;
		if (fired)
			fired[i] = (struct clock_count){ each[i].fired, each[i].fired_idle };
	}
	*ret_counters = sum;
	return 0;
}
