/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of several names at one address of the kernel a function is called by. The first of these
 * rules that tells them apart decides: functions over marks of sections (__sched_text_start); the
 * better known of two (kernel_alias()); strong over weak; the one that is listed first, which the
 * kernel itself chooses.
 */
#ifndef STACKTALLY_KERNEL_KERNEL_ALIAS_H
#define STACKTALLY_KERNEL_KERNEL_ALIAS_H

#include <stdbool.h>
#include <stddef.h>

#define KERNEL_ALIAS_SIZE 512

/*
 * The better known name that the function may have, too: of __do_sys_getpid it is
 * __x64_sys_getpid, of __pi_memcpy memcpy. False: there is none, or it is longer than `size`.
 */
bool kernel_alias(const char *name, char *ret_alias, size_t size);

/* Whether a name tells where a section of the core kernel's code begins, or ends. */
bool kernel_alias_is_boundary(const char *name, bool *ret_end);

/* Whether a name is better than the one known for the same address; types as kallsyms has them. */
bool kernel_alias_is_better(const char *name, char type, const char *known, char known_type);

#endif
