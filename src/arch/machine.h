/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names and numbers by which the machine's kernel, files and libraries are known:
 *
 *	ARCH_ELF, ARCH_ELF_32	e_machine of programs of 64 and of 32 bits
 *	ARCH_AUDIT		of its system calls, for seccomp
 *	ARCH_R_IRELATIVE	the relocation of a function that is chosen at run time
 *	ARCH_SYSCALL_PREFIX	of the kernel's functions for system calls
 *	ARCH_LD_CACHE		the kind of its libraries in ld.so.cache
 *	ARCH_MULTIARCH		Debian's folder of libraries
 *	ARCH_MUSL		the musl library's path
 */
#ifndef STACKTALLY_ARCH_MACHINE_H
#define STACKTALLY_ARCH_MACHINE_H

#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
#include "arch/x86_64/machine.h"
#elif defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
#include "arch/aarch64/machine.h"
#else
#error "nothing is known of this architecture"
#endif

#endif
