/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The user registers that events and the kernel have. Part of bpf/user_registers.bpf.h.
 *
 *	TAKE_REGISTERS(walk, from)	takes them from a struct pt_regs or an event's
 *	saved_are_none(saved)		the task has no user side
 *	mode_of(from)			in which mode the code runs
 *	saved_at(task)			where the kernel saved them, before it had a helper
 *	saved_are_exact(at, saved)	the program counter was interrupted
 *	hit_user_code(ctx)		whether the clock interrupted user code
 *	end_of_mode(mode)		whether code of that mode can be walked
 *	entry_caller(walk, ret_caller)	the caller, at the first instruction of a function
 *	BREAKPOINT			the byte that execution stops behind; 0: it stops at it
 *	did_probed_push(walk)		the instruction of one byte before it was executed
 *	kernel_adds_caller()		whether bpf_get_stack() does so itself
 */
#ifndef STACKTALLY_ARCH_USER_REGISTERS_BPF_H
#define STACKTALLY_ARCH_USER_REGISTERS_BPF_H

#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
#include "arch/x86_64/user_registers.bpf.h"
#elif defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
#include "arch/aarch64/user_registers.bpf.h"
#else
#error "nothing is known of this architecture"
#endif

#endif
