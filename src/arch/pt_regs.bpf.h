/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * struct pt_regs: the user registers that the kernel saves when it is entered, as far as they are
 * read.
 */
#ifndef STACKTALLY_ARCH_PT_REGS_BPF_H
#define STACKTALLY_ARCH_PT_REGS_BPF_H

#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
#include "arch/x86_64/pt_regs.bpf.h"
#elif defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
#include "arch/aarch64/pt_regs.bpf.h"
#else
#error "nothing is known of this architecture"
#endif

#endif
