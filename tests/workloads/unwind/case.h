/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the workloads whose every instruction is stepped: few instructions. */
#ifndef STACKTALLY_WORKLOADS_UNWIND_CASE_H
#define STACKTALLY_WORKLOADS_UNWIND_CASE_H

#include <signal.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile long sink;

/* Handles the signals that the test sends at any instruction. */
static NOINLINE void on_signal(int number)
{
	sink += number;
}

static inline void take_signals(void)
{
	signal(SIGUSR1, on_signal);
}

#endif
