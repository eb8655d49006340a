/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * .gnu_debugdata: an xz-compressed ELF file inside a stripped one, with the symbols of its inner
 * functions. Fedora and its kin have it in every program.
 */
#ifndef STACKTALLY_ELF_DEBUG_DATA_H
#define STACKTALLY_ELF_DEBUG_DATA_H

#include "elf/elf_file.h"

#define DEBUG_DATA_MAX_SIZE (64u << 20) /* decompressed; more is refused with -EFBIG */

/* The decompressed file, which the caller frees. -ENODATA when there is none, -EIO when broken. */
int debug_data_load(const struct elf_file *elf, void **ret_bytes, size_t *ret_size);

#endif
