/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * What the kernel of the architecture is like:
 *
 *	ARCH_HAS_ORC	it has ORC tables of its own code (bpf/orc.bpf.h)
 *	ARCH_STACK_SIZE	bytes of a thread's stack in it
 */
#ifndef STACKTALLY_ARCH_KERNEL_H
#define STACKTALLY_ARCH_KERNEL_H

#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
#include "arch/x86_64/kernel.h"
#elif defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
#include "arch/aarch64/kernel.h"
#else
#error "nothing is known of this architecture"
#endif

#endif
