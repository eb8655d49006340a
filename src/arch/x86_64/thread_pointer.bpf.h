/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
#define ARCH_THREAD_POINTER(task, from) TASK_FIELD(task, from, thread.fsbase)
