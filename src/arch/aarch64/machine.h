/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <linux/audit.h>

#define ARCH_ELF	    EM_AARCH64
#define ARCH_ELF_32	    EM_ARM
#define ARCH_AUDIT	    AUDIT_ARCH_AARCH64
#define ARCH_R_IRELATIVE    R_AARCH64_IRELATIVE
#define ARCH_SYSCALL_PREFIX "__arm64_sys_"
#define ARCH_LD_CACHE	    0x0a00
#define ARCH_MULTIARCH	    "aarch64-linux-gnu"
#define ARCH_MUSL	    "/lib/ld-musl-aarch64.so.1"
