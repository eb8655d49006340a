/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * .gnu_debugdata: an xz-compressed ELF file inside a stripped one, with the symbols that .dynsym
 * lacks ("MiniDebugInfo"). Fedora and its derivatives have it in every program.
 */
#ifndef STACKTALLY_ELF_DEBUG_DATA_H
#define STACKTALLY_ELF_DEBUG_DATA_H

#include "elf/elf_file.h"

#define DEBUG_DATA_MAX_SIZE (64u << 20) /* bytes, decompressed */

/*
 * Decompresses the file into memory that the caller frees. 0; -ENODATA: there is none; -EIO:
 * damaged; -EFBIG: larger than DEBUG_DATA_MAX_SIZE; -ENOMEM.
 */
int debug_data_load(const struct elf_file *elf, void **ret_bytes, size_t *ret_size);

#endif
