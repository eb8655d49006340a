/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time off the CPU, from the kernel side (bpf/off_cpu.bpf.h) to the stacks
 * (drain/epoch_stacks.h): gauge_times of gauge/gauge.h.
 *
 * The kernel side adds the time of an absence when the thread is back. For threads that are still
 * off the CPU, the time so far is added here whenever an epoch is drained, and subtracted once the
 * kernel side has added the whole. Threads that were off the CPU when the measurement began are
 * found in /proc. Points in time are ns of CLOCK_MONOTONIC.
 */
#ifndef STACKTALLY_GAUGE_TIMES_H
#define STACKTALLY_GAUGE_TIMES_H

#include <stdbool.h>

struct stacktally;

/* Whether the maps and programs of times are to be loaded. */
void times_use_maps(struct stacktally *skeleton, bool use);

#endif
