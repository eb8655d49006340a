/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The vDSO: code that the kernel maps into every process, without a file. All processes of our
 * own kind have the same image, so ours is read, from our own memory.
 */
#ifndef STACKTALLY_SYMBOLIZE_VDSO_H
#define STACKTALLY_SYMBOLIZE_VDSO_H

#include <stddef.h>

#define VDSO_MODULE "[vdso]"

/*
 * Our image; lives as long as the process and is not to be freed. 0 or -ENOENT when the kernel
 * gave us none.
 */
int vdso_image(const void **ret_bytes, size_t *ret_size);

#endif
