/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * ARCH_THREAD_POINTER(task, from): the address by which a thread finds its own data; of one that is
 * not current, as it was when it left a CPU. `from` is an enum task_from. Part of bpf/task.bpf.h.
 */
#ifndef STACKTALLY_ARCH_THREAD_POINTER_BPF_H
#define STACKTALLY_ARCH_THREAD_POINTER_BPF_H

#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
#include "arch/x86_64/thread_pointer.bpf.h"
#elif defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
#include "arch/aarch64/thread_pointer.bpf.h"
#else
#error "nothing is known of this architecture"
#endif

#endif
