/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time off the CPU, from the kernel side (bpf/off_cpu.bpf.h) to the stacks
 * (session/epoch_stacks.h).
 *
 * The kernel side adds the time of an absence when the thread is back. What fell into the
 * measurement of threads that are still away is added here whenever an epoch is drained, and taken
 * back once the kernel side has added the whole. Threads that were away when the measurement began
 * are found in /proc. Points in time are ns of CLOCK_MONOTONIC.
 */
#ifndef STACKTALLY_SESSION_OFF_CPU_H
#define STACKTALLY_SESSION_OFF_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bpf/off_cpu_wire.h"
#include "plan/plan.h"
#include "session/epoch_stacks.h"
#include "session/kernel_side.h"

struct off_cpu;
struct unwinder;
struct stacktally;

/* Configures the programs and maps, before the load. `sets` as of the counts. */
void off_cpu_configure(const struct plan *plan, struct stacktally *skeleton, uint32_t sets);

/* After the load. The arguments are borrowed; `stacks` are timed. */
int off_cpu_new(const struct plan *plan, const struct kernel_side *side,
		struct epoch_stacks *stacks, struct off_cpu **ret_off_cpu, struct error *err);
void off_cpu_free(struct off_cpu *off_cpu);

/* Enters the threads that are there into the map, just before the programs are armed. */
int off_cpu_find_threads(struct off_cpu *off_cpu, struct error *err);
/* The measurement begins: the programs are armed next. */
void off_cpu_begin(struct off_cpu *off_cpu, uint64_t now);

/*
 * Walks the stacks of those that sleep, once the programs are armed. 1: the unwinder is full, and
 * this is to be called again. Holds images_lock() as the caller has to.
 */
int off_cpu_walk_threads(struct off_cpu *off_cpu, struct unwinder *unwinder, struct error *err);

/* Take a record from the ring buffer. 0 or -ENOMEM. */
int off_cpu_take(struct off_cpu *off_cpu, const struct wire_time *time);
int off_cpu_take_pair(struct off_cpu *off_cpu, const struct wire_pair *pair);

/*
 * Adds the times of an epoch that has ended, whose stacks have come, and those of threads that are
 * away, up to `now`, to the stacks. `final`: the programs are disarmed.
 */
int off_cpu_drain(struct off_cpu *off_cpu, uint32_t epoch, uint64_t now, bool final,
		  struct tally *tally, struct error *err);

/* Adds the losses since it was called last. A negative errno when they cannot be read. */
int off_cpu_losses(struct off_cpu *off_cpu, struct tally_losses *losses, struct error *err);

#endif
