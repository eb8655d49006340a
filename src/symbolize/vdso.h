/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The vDSO (vdso(7)): the ELF file that the kernel maps into every process. It is the same in all
 * 64-bit processes, so our own copy is read.
 */
#ifndef STACKTALLY_SYMBOLIZE_VDSO_H
#define STACKTALLY_SYMBOLIZE_VDSO_H

#include <stddef.h>

#define VDSO_MODULE "[vdso]"

/*
 * Our own vDSO: borrowed memory, valid as long as our process. 0; -ENOENT: the kernel maps none; or
 * another negative errno.
 */
int vdso_find(const void **ret_bytes, size_t *ret_size);

#endif
