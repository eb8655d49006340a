/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time off the CPU, from the kernel side (bpf/off_cpu.bpf.h) to the stacks
 * (drain/epoch_stacks.h).
 *
 * The kernel side adds the time of an absence when the thread is back. For threads that are still
 * off the CPU, the time so far is added here whenever an epoch is drained, and subtracted once the
 * kernel side has added the whole. Threads that were off the CPU when the measurement began are
 * found in /proc. Points in time are ns of CLOCK_MONOTONIC.
 */
#ifndef STACKTALLY_SESSION_OFF_CPU_H
#define STACKTALLY_SESSION_OFF_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bpf/off_cpu_wire.h"
#include "drain/epoch_stacks.h"
#include "plan/plan.h"
#include "session/kernel_side.h"

struct off_cpu;
struct unwinder;
struct stacktally;

/* Configures the programs and maps, before the load. `sets` is the number of sets of counts. */
void off_cpu_configure(const struct plan *plan, struct stacktally *skeleton, uint32_t sets);

/* After the load. The arguments are borrowed; times are added to `stacks`. */
int off_cpu_new(const struct plan *plan, const struct kernel_side *side,
		struct epoch_stacks *stacks, struct off_cpu **ret_off_cpu, struct error *err);
void off_cpu_free(struct off_cpu *off_cpu);

/* Adds all existing threads to the map of threads, just before the programs are armed. */
int off_cpu_find_threads(struct off_cpu *off_cpu, struct error *err);
/* Sets the time at which the measurement begins; the programs are armed next. */
void off_cpu_begin(struct off_cpu *off_cpu, uint64_t now);

/*
 * Walks the stacks of threads that sleep, once the programs are armed. 1: the unwinder is full, and
 * this is to be called again. The caller holds images_lock().
 */
int off_cpu_walk_threads(struct off_cpu *off_cpu, struct unwinder *unwinder, struct error *err);

/* Take a record from the ring buffer. 0 or -ENOMEM. */
int off_cpu_take(struct off_cpu *off_cpu, const struct wire_time *time);
int off_cpu_take_pair(struct off_cpu *off_cpu, const struct wire_pair *pair);

/*
 * Adds the times of an ended epoch, all of whose stacks have come, and those of threads that are
 * off the CPU, up to `now`. `final`: the programs are disarmed.
 */
int off_cpu_drain(struct off_cpu *off_cpu, uint32_t epoch, uint64_t now, bool final,
		  struct tally *tally, struct error *err);

/* Adds the losses since the last call. 0, or a negative errno with `err` set. */
int off_cpu_losses(struct off_cpu *off_cpu, struct tally_losses *losses, struct error *err);

#endif
