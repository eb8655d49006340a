/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interpreters that run on this machine: whether the functions of their programs are shown.
 */
#ifndef STACKTALLY_CHECK_RUNNING_INTERPRETERS_H
#define STACKTALLY_CHECK_RUNNING_INTERPRETERS_H

#include "check/finding.h"

void interpreters_try_all(struct findings *findings);

#endif
