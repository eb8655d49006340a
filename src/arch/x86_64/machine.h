/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <linux/audit.h>

#define ARCH_ELF	    EM_X86_64
#define ARCH_ELF_32	    EM_386
#define ARCH_AUDIT	    AUDIT_ARCH_X86_64
#define ARCH_R_IRELATIVE    R_X86_64_IRELATIVE
#define ARCH_SYSCALL_PREFIX "__x64_sys_"
#define ARCH_LD_CACHE	    0x0300
#define ARCH_MULTIARCH	    "x86_64-linux-gnu"
#define ARCH_MUSL	    "/lib/ld-musl-x86_64.so.1"
