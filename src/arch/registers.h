/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The registers of user code by their roles in a walk, as DWARF numbers them:
 *
 *	ARCH_N_REGISTERS	that a rule may name; a power of two
 *	ARCH_FP, ARCH_SP	the frame pointer, the stack pointer
 *	ARCH_RESULT		the result of a system call
 *	ARCH_ARGUMENT		the first argument of a function
 *	ARCH_FOLLOWED		one more that is followed from frame to frame, or ARCH_FP
 *	ARCH_UNFOLLOWED		bits of those that callees may change and no rule follows
 *
 * and what a call leaves:
 *
 *	ARCH_RETURN_AT(cfa, rule)	where a rule's return address is (WIRE_RA_CFA)
 *	ARCH_SAVED_TOGETHER(rule)	it is just above the saved frame pointer, ...
 *	ARCH_SAVED_AT(cfa, rule)	... which is here
 *	ARCH_CODE_ADDRESS(word, bits)	the address that a saved word stands for, if
 *					user addresses have so many bits
 */
#ifndef STACKTALLY_ARCH_REGISTERS_H
#define STACKTALLY_ARCH_REGISTERS_H

#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
#include "arch/x86_64/registers.h"
#elif defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
#include "arch/aarch64/registers.h"
#else
#error "nothing is known of this architecture"
#endif

#endif
