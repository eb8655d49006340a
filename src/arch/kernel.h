/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * What the kernel of the architecture is like:
 *
 *	ARCH_HAS_ORC	it has ORC tables of its own code (bpf/orc.bpf.h)
 *	ARCH_STACK_SIZE	bytes of a thread's stack in it
 *	ARCH_RETURN_CALLED	the offset in the trampoline of return probes behind its system
 *			call, which takes the return; from there on it only restores
 *	ARCH_RETURN_PUSHED(offset)	bytes that the trampoline has on the stack there
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
