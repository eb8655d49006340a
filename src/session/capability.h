/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of the capabilities that a measurement takes this process has.
 */
#ifndef STACKTALLY_SESSION_CAPABILITY_H
#define STACKTALLY_SESSION_CAPABILITY_H

#include "base/error.h"

/* CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN which has them all; else a privilege error. */
int capability_check(struct error *err);

#endif
