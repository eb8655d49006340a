/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
#define ARCH_THREAD_POINTER(task) TASK_FIELD(task, TASK_CURRENT, thread.fsbase)
