/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arch_unprobeable(): see trigger/unprobeable.h. */
#ifndef STACKTALLY_ARCH_UNPROBEABLE_H
#define STACKTALLY_ARCH_UNPROBEABLE_H

#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
#include "arch/x86_64/unprobeable.h"
#elif defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
#include "arch/aarch64/unprobeable.h"
#else
#error "nothing is known of this architecture"
#endif

#endif
