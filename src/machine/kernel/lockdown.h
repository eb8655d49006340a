/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel lockdown (kernel_lockdown(7)), for messages about operations that it denies to root.
 */
#ifndef STACKTALLY_KERNEL_LOCKDOWN_H
#define STACKTALLY_KERNEL_LOCKDOWN_H

#include <stdbool.h>

#define LOCKDOWN_MODE_SIZE 32

/* True if the kernel is locked down: the mode is "integrity" or "confidentiality" then. */
bool lockdown_mode(char ret_mode[LOCKDOWN_MODE_SIZE]);

#endif
