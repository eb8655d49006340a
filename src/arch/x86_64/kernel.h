/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
#define ARCH_HAS_ORC	1
#define ARCH_STACK_SIZE 16384 /* THREAD_SIZE; with KASAN it is more */
