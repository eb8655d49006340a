/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long this process waited for a CPU. Limits of time leave this out: on a busy machine, work
 * that only waits for its turn has not failed.
 */
#ifndef STACKTALLY_BASE_CPU_WAIT_H
#define STACKTALLY_BASE_CPU_WAIT_H

#include <stdint.h>

/*
 * Nanoseconds for which threads of this process, and children of it that live now, were ready to
 * run and had no CPU, all of them together. 0 where the kernel does not tell (no /proc, no
 * SCHED_INFO). It takes some 10 us for each of them; no more than 256 are looked at.
 */
uint64_t cpu_wait_ns(void);

#endif
