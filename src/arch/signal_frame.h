/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * unwind_signal(): takes the registers that the kernel saved when it delivered a signal. Part of
 * bpf/unwind_signal.h.
 */
#ifndef STACKTALLY_ARCH_SIGNAL_FRAME_H
#define STACKTALLY_ARCH_SIGNAL_FRAME_H

#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
#include "arch/x86_64/signal_frame.h"
#elif defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
#include "arch/aarch64/signal_frame.h"
#else
#error "nothing is known of this architecture"
#endif

#endif
