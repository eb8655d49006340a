/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long each CPU has had nothing to run.
 */
#ifndef STACKTALLY_KERNEL_IDLE_TIME_H
#define STACKTALLY_KERNEL_IDLE_TIME_H

#include <stdint.h>

/*
 * Writes into ret_ns[N], for each CPU N below `n` that is online, its idle time in ns since the
 * machine started, in steps of some ms (/proc/stat: idle and iowait). The others keep what they
 * had.
 */
void idle_times_ns(uint64_t *ret_ns, uint32_t n);

#endif
