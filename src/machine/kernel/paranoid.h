/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel.perf_event_paranoid (Documentation/admin-guide/sysctl/kernel.rst), for messages about perf
 * events that the kernel refuses.
 */
#ifndef STACKTALLY_KERNEL_PARANOID_H
#define STACKTALLY_KERNEL_PARANOID_H

/* What allows perf events on whole CPUs on this machine: the second half of a message. */
const char *paranoid_remedy(void);

#endif
