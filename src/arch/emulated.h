/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arch_emulated(): whether the kernel emulates an instruction at which a user probe is. */
#ifndef STACKTALLY_ARCH_EMULATED_H
#define STACKTALLY_ARCH_EMULATED_H

#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
#include "arch/x86_64/emulated.h"
#elif defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
#include "arch/aarch64/emulated.h"
#else
#error "nothing is known of this architecture"
#endif

#endif
