/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Filters of system calls (seccomp(2)) on this process, for messages about calls that fail:
 * container engines and service managers set them, for root as well.
 */
#ifndef STACKTALLY_BASE_SECCOMP_H
#define STACKTALLY_BASE_SECCOMP_H

#include <stdbool.h>

/* Whether such a filter is in force: Seccomp: 2 in /proc/self/status. */
bool seccomp_is_filtered(void);

/*
 * The second half of a message: that a filter probably denied `call` with `code`, a negative errno,
 * and what helps. NULL: there is no filter, or filters do not answer so.
 */
const char *seccomp_remedy(const char *call, int code, char *ret_text, unsigned int size);

#define SECCOMP_REMEDY_SIZE 300

#endif
