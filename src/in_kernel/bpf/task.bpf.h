/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The current task. Since Linux 5.11 programs have a pointer to it whose type the verifier knows,
 * and load its fields without a helper's call, which takes some 40 ns where returns are protected.
 */
#ifndef STACKTALLY_BPF_TASK_BPF_H
#define STACKTALLY_BPF_TASK_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "bpf/kernel.bpf.h"

static __always_inline bool has_typed_task(void)
{
	return bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf);
}

static __always_inline const struct task_struct *current_task(void)
{
	if (has_typed_task())
		return (const void *)bpf_get_current_task_btf();
	return (const void *)bpf_get_current_task();
}

/* Where a pointer to a task comes from. */
enum task_from {
	TASK_CURRENT,  /* from current_task() */
	TASK_ARGUMENT, /* from a tracepoint: a number for the verifier */
};

/* A field of a task, or of what a field of it points to. */
#define TASK_FIELD(task, from, field)                                                              \
	((from) == TASK_CURRENT && has_typed_task() ? (task)->field : BPF_CORE_READ(task, field))

/* Uses what is above. */
#include "arch/thread_pointer.bpf.h"

#endif
