/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The step from a frame that delivers a signal. Part of bpf/unwind_step.h, whose includers define
 * the macros.
 */
#ifndef STACKTALLY_BPF_UNWIND_SIGNAL_H
#define STACKTALLY_BPF_UNWIND_SIGNAL_H

#include "bpf/unwind_walk.h"
#include "bpf/unwind_wire.h"

/* Uses what is above. */
#include "arch/signal_frame.h"

#endif
