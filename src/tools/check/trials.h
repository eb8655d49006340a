/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is tried by measuring: a child of ours that computes and calls the kernel, one that sleeps,
 * the whole machine, and the interpreters that run on it.
 */
#ifndef STACKTALLY_CHECK_TRIALS_H
#define STACKTALLY_CHECK_TRIALS_H

#include "check/finding.h"

void trials_run(struct findings *findings);

#endif
