/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The capabilities that a measurement needs.
 */
#ifndef STACKTALLY_KERNEL_CAPABILITY_H
#define STACKTALLY_KERNEL_CAPABILITY_H

#include <stdbool.h>

#include "base/error.h"

/* 0 with CAP_BPF and CAP_PERFMON, or with CAP_SYS_ADMIN; else -EPERM, a privilege error. */
int capability_check(struct error *err);

/* Whether the files that other users' processes have mapped can be found. */
bool capability_to_find_files(void);
/* Whether files can be read that only their owners may read. */
bool capability_to_read_files(void);

#endif
