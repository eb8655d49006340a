/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the programs with known stacks share. Small: every instruction of theirs is stepped. */
#ifndef STACKTALLY_WORKLOADS_UNWIND_CASE_H
#define STACKTALLY_WORKLOADS_UNWIND_CASE_H

#include <signal.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile long sink;

/* Signals that the test sends at any instruction come here. */
static NOINLINE void on_signal(int number)
{
	sink += number;
}

static inline void take_signals(void)
{
	signal(SIGUSR1, on_signal);
}

#endif
