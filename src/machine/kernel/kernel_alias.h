/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The choice among several names at one address of the kernel. The first of these rules that tells
 * two names apart decides: a function over the boundary of a section (__sched_text_start); the
 * better known of two aliases (kernel_alias()); a strong symbol over a weak one; the name that
 * /proc/kallsyms lists first, which the kernel itself shows.
 */
#ifndef STACKTALLY_KERNEL_KERNEL_ALIAS_H
#define STACKTALLY_KERNEL_KERNEL_ALIAS_H

#include <stdbool.h>
#include <stddef.h>

#define KERNEL_ALIAS_SIZE 512

/*
 * The better known alias that a function of this name may have: __x64_sys_getpid for
 * __do_sys_getpid, memcpy for __pi_memcpy. False when there is none or `size` bytes do not hold it.
 */
bool kernel_alias(const char *name, char *ret_alias, size_t size);

/* Whether the linker script defines the name: as the start of a section of code, or its end. */
bool kernel_alias_is_boundary(const char *name, bool *ret_end);

/* Whether a name is to replace the known one of the same address. Types are those of kallsyms. */
bool kernel_alias_is_better(const char *name, char type, const char *known, char known_type);

#endif
