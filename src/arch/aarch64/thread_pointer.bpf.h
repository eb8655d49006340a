/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct arm64_user_words {
	unsigned long tp_value; /* as it was when the thread left a CPU last */
};

struct thread_struct___arm64 {
	struct arm64_user_words uw;
};

struct task_struct___arm64 {
	struct thread_struct___arm64 thread;
};

#pragma clang attribute pop

#define ARCH_THREAD_POINTER(task, from)                                                            \
	BPF_CORE_READ((const struct task_struct___arm64 *)(task), thread.uw.tp_value)
