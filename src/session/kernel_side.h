/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF object: the plan's filters and sizes in it, the counts of its two epochs, its ring and
 * its counters.
 */
#ifndef STACKTALLY_SESSION_KERNEL_SIDE_H
#define STACKTALLY_SESSION_KERNEL_SIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "bpf/wire.h"
#include "kernel/kernel_btf.h"
#include "plan/plan.h"
#include "session/epochs.h"
#include "trigger/trigger.h"

struct stacktally;

struct kernel_side {
	struct stacktally *skeleton;
	struct kernel_btf types; /* for the load */
	struct epochs *epochs;
	struct wire_counts *counts; /* mapped, from the load on */
	uint64_t n_sets;	    /* of counts, for each epoch */
	uint32_t ring_size;	    /* bytes */
	__u64 seed[2];		    /* of the stack hash */
	bool follows_forks;
	/*
	 * The maps of the unwinding tables; -1 without tables. Not libbpf's descriptors: where the
	 * load fails it closes those, and somebody may be filling the tables.
	 */
	int segments, rules, processes;
};

#define KERNEL_SIDE_NONE                                                                           \
	((struct kernel_side){                                                                     \
		.types = { .fd = -1 }, .segments = -1, .rules = -1, .processes = -1 })

/*
 * Opens and configures. The maps of the unwinding tables are there from then on: they can be filled
 * while the programs are loaded. The kernel walks `most_frames` at most.
 */
int kernel_side_open(const struct plan *plan, struct trigger *trigger, uint32_t most_frames,
		     struct kernel_side *ret_side, struct error *err);
/* Loads, which is up to the verifier and takes 20 ms; nothing fires yet. */
int kernel_side_load(struct kernel_side *side, struct error *err);
void kernel_side_close(struct kernel_side *side);

/* Attaches what follows forks, execs and exits, if the plan asks for it. */
int kernel_side_follow_forks(struct kernel_side *side, struct error *err);

/*
 * Events count from now on, or no longer. Once disarmed, the programs do nothing; those that run
 * still are waited for with epochs_wait().
 */
void kernel_side_arm(struct kernel_side *side, bool armed);

/*
 * Events that the kernel ran no program of ours for, as another one ran on their CPU. It counts
 * them since Linux 5.12, and for what is attached through perf since 6.7 (dd8657894c11).
 */
uint64_t kernel_side_misses(const struct kernel_side *side);

/* Descriptor of the ring's map. */
int kernel_side_ring(const struct kernel_side *side);

/* Where the kernel side is told of the kernel's unwinding tables: in its memory. */
volatile struct wire_orc *kernel_side_orc(const struct kernel_side *side);
/* And of those of the modules that are loaded, before `n` of it is set. */
void kernel_side_tell_modules(const struct kernel_side *side);

/* The counters, added up over all CPUs. */
int kernel_side_counters(const struct kernel_side *side, struct wire_counters *ret_counters);

#endif
