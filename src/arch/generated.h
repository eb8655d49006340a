/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * unwind_generated(): the step from a frame of generated code, which has no tables. Part of
 * bpf/unwind_generated.h.
 */
#ifndef STACKTALLY_ARCH_GENERATED_H
#define STACKTALLY_ARCH_GENERATED_H

#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
#include "arch/x86_64/generated.h"
#elif defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
#include "arch/aarch64/generated.h"
#else
#error "nothing is known of this architecture"
#endif

#endif
