/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF object of a measurement: opened and configured by the plan, loaded, armed; its counts,
 * ring buffer and counters.
 */
#ifndef STACKTALLY_LOADER_KERNEL_SIDE_H
#define STACKTALLY_LOADER_KERNEL_SIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "bpf/wire.h"
#include "drain/epochs.h"
#include "kernel/kernel_btf.h"
#include "kernel/kernel_symbols.h"
#include "loader/dead_code_load.h"
#include "plan/plan.h"
#include "trigger/trigger.h"
#include "unwind/unwind_maps.h"

struct stacktally;

struct kernel_side {
	struct stacktally *skeleton;
	struct kernel_btf btf; /* for the load */
	struct epochs *epochs;
	struct wire_counts *counts; /* mapped; NULL before the load */
	uint64_t n_sets;	    /* of counts in each epoch */
	uint32_t epoch_stacks;	    /* that end an epoch */
	uint32_t ring_size;	    /* bytes */
	__u64 seed[2];		    /* of the stack hash */
	bool follows_forks;	    /* the programs on forks, execs and exits are loaded */
	bool has_tables;	    /* user stacks are walked by unwinding tables */
	/*
	 * The maps of the unwinding tables; -1 without. Not libbpf's own descriptors, which it
	 * closes when the load fails: a thread may still be filling the tables.
	 */
	struct unwind_maps_fds tables;
	int interpreters; /* the map of the interpreters, which the loaded programs do not use */
	int java;	  /* that of virtual machines, the same; -1 as long as there is none */
};

#define KERNEL_SIDE_NONE                                                                           \
	((struct kernel_side){                                                                     \
		.btf = { .fd = -1 },                                                               \
		.tables = { .segments = -1, .rules = -1, .processes = -1, .files = -1 },           \
		.interpreters = -1,                                                                \
		.java = -1,                                                                        \
	})

/*
 * Opens and configures the object. The maps of the unwinding tables exist from then on, so they can
 * be filled during the load. `max_stack` is kernel.perf_event_max_stack. On failure there is
 * nothing to close.
 */
int kernel_side_open(const struct plan *plan, struct trigger *trigger, uint32_t max_stack,
		     struct kernel_side *ret_side, struct error *err);
/* With has_tables, before the load: where the tables are stored, to be closed before the object. */
int kernel_side_unwind_maps(const struct kernel_side *side, struct unwind_maps **ret_maps,
			    struct error *err);
/* Loads the programs; the verifier takes 20 ms. May run in another thread. */
int kernel_side_load(struct kernel_side *side, struct error *err);
void kernel_side_close(struct kernel_side *side);

/*
 * After the load: fills the filters of the plan and attaches the programs on forks, execs and
 * exits, if it needs them. `command` is a process that counts from its next exec on; 0: none.
 */
int kernel_side_filter(struct kernel_side *side, const struct plan *plan, pid_t command,
		       struct error *err);
/* The maps by which the programs filter by process and by cgroup: descriptors, borrowed. */
int kernel_side_tgids(const struct kernel_side *side);
int kernel_side_cgroups(const struct kernel_side *side);
/* How often cgroups were made or removed, and how many of the chosen had no room in that map. */
void kernel_side_cgroup_changes(const struct kernel_side *side, uint64_t *ret_changes,
				uint64_t *ret_lost);

/* Attaches the trigger. */
int kernel_side_attach(struct kernel_side *side, struct trigger *trigger, struct error *err);

/* As kernel_lookup_get(). */
bool kernel_side_lookup(const struct kernel_side *side, struct kernel_lookup *ret_lookup);

/*
 * Events count from now on, or no longer. Disarmed programs return at once; epochs_wait() waits for
 * those that were running.
 */
void kernel_side_arm(struct kernel_side *side, bool armed);

/*
 * Events for which the kernel did not run our programs, because another one was running on the CPU.
 * Linux counts them since 5.12, and for programs attached through perf since 6.7 (dd8657894c11).
 */
uint64_t kernel_side_misses(const struct kernel_side *side);

/*
 * Descriptor of the map `java_processes`, which is made when it is first asked for, before programs
 * that use it are loaded; negative: it cannot be made. Owned by the object.
 */
int kernel_side_java(struct kernel_side *side);

/* Descriptor of the ring buffer, owned by the object. */
int kernel_side_ring(const struct kernel_side *side);

/* Where the programs read where the kernel's ORC tables are (kernel/orc_tables.h): shared memory.
 */
volatile struct wire_orc *kernel_side_orc(const struct kernel_side *side);
/* Tells the programs of the modules' ORC tables; call it before `n` of wire_orc is set. */
void kernel_side_write_modules(const struct kernel_side *side);

/* Events of this process and its helpers that WIRE_NOT_SELF left out. */
uint64_t kernel_side_own_events(const struct kernel_side *side);

/* How often the clock came to a CPU: the counters `fired` and `fired_idle`. */
struct clock_count {
	uint64_t all, idle;
};

/*
 * The programs' counters, summed over all CPUs. `fired` is as long as there may be CPUs, and gets
 * those of each; NULL: they are not wanted. 0 or a negative errno.
 */
int kernel_side_counters(const struct kernel_side *side, struct wire_counters *ret_counters,
			 struct clock_count *fired);

#endif
