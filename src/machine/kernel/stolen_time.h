/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The time that a hypervisor took from this machine's CPUs, as far as the kernel knows.
 */
#ifndef STACKTALLY_KERNEL_STOLEN_TIME_H
#define STACKTALLY_KERNEL_STOLEN_TIME_H

#include <stdint.h>

/* ns since the machine started, of all CPUs, in steps of some ms; 0 where it is not known. */
uint64_t stolen_time_ns(void);

#endif
