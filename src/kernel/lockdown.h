/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel lockdown (Documentation/admin-guide/lockdown): what to name when the kernel refuses root
 * something. Knows nothing of what was refused.
 */
#ifndef STACKTALLY_KERNEL_LOCKDOWN_H
#define STACKTALLY_KERNEL_LOCKDOWN_H

#include <stdbool.h>

#define LOCKDOWN_MODE_SIZE 32

/* Whether the kernel is locked down, and how: "integrity" or "confidentiality". */
bool lockdown_mode(char ret_mode[LOCKDOWN_MODE_SIZE]);

#endif
