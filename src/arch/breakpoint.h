/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Breakpoints in a process that is traced with ptrace().
 *
 *	arch_trap			the bytes of the instruction
 *	ARCH_TRAP_PASSED		how far behind its first byte the process stops
 *	arch_pc(), arch_set_pc()	its program counter
 *	arch_makes_task(number)		whether this system call may make a task
 */
#ifndef STACKTALLY_ARCH_BREAKPOINT_H
#define STACKTALLY_ARCH_BREAKPOINT_H

#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
#include "arch/x86_64/breakpoint.h"
#elif defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
#include "arch/aarch64/breakpoint.h"
#else
#error "nothing is known of this architecture"
#endif

#endif
