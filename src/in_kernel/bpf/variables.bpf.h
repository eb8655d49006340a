/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The variables of the kernel side. Two objects use those of one map (languages/interpreted.bpf.c),
 * and so have them in one order, whatever else they include and when.
 */
#ifndef STACKTALLY_BPF_VARIABLES_BPF_H
#define STACKTALLY_BPF_VARIABLES_BPF_H

#include <linux/types.h>

#include "bpf/wire.h"

/*
 * Counts the changes of `unwind_processes`. The kernel side and user space add to it after each
 * change; an entry that was read before holds for as long as the number is the same.
 */
__u64 unwind_changes;

/* The current epoch; only user space changes it. */
volatile __u32 epoch;

/* Filled in by user space, maybe after the programs have been armed. */
volatile struct wire_orc orc;

/* enum orc_form (bpf/orc.bpf.h). */
volatile __u32 orc_form;

/* What bpf/switch_stack.bpf.h has found out. */
volatile struct wire_switch_learned switch_learned;

/*
 * While this is 0, the programs do nothing. User space sets it once all probes are attached, and
 * clears it before it detaches them. Both take a while for thousands of probes, but both ends of
 * the measurement are sharp.
 */
volatile __u32 armed;

/* Events of the process that measures and of its helpers, which WIRE_NOT_SELF leaves out. */
__u64 own_events;

/* When the measurement began; user space sets it before it arms the programs. */
volatile __u64 off_cpu_began;

#endif
