/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel.perf_event_paranoid (Documentation/admin-guide/sysctl/kernel.rst): what to do when the
 * kernel refuses a perf event. Knows nothing of what was refused.
 */
#ifndef STACKTALLY_KERNEL_PARANOID_H
#define STACKTALLY_KERNEL_PARANOID_H

/* What lets this machine's kernel open perf events on whole CPUs: the end of a sentence. */
const char *paranoid_remedy(void);

#endif
