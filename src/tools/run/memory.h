/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much memory the stacks of a measurement may take where --memory does not say.
 *
 * A report takes up to twice as much again as the stacks that it prints, names take some, and other
 * programs need memory, too. So it is an eighth of the machine's, or of what the control groups
 * (cgroups(7), v1 and v2) of this process leave it, and MEMORY_DEFAULT_MOST at most.
 */
#ifndef STACKTALLY_RUN_MEMORY_H
#define STACKTALLY_RUN_MEMORY_H

#include <stdint.h>

#define MEMORY_DEFAULT_MOST (512ull << 20)

/* Bytes. */
uint64_t memory_default(void);

/*
 * How many processes of this one's control group, or in it, the kernel has killed so far for want
 * of memory. 0 where nothing tells.
 */
uint64_t memory_kills(void);

#endif
