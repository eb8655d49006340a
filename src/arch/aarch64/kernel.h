/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
#define ARCH_HAS_ORC		   0
#define ARCH_STACK_SIZE		   16384 /* THREAD_SIZE with pages of 4 and 16 KiB and without KASAN */
#define ARCH_RETURN_CALLED	   (~0u) /* `brk`: no code */
#define ARCH_RETURN_PUSHED(offset) 0u
