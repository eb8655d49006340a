/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From addresses of an ELF file, as its symbols and notes have them, to offsets in the file, as
 * the kernel wants them for user probes; and whether the file can be probed at all.
 */
#ifndef STACKTALLY_ELF_CODE_OFFSET_H
#define STACKTALLY_ELF_CODE_OFFSET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "elf/elf_file.h"

/* `path` is for the message. The file must be a program or library for this machine. */
int code_file_open(int fd, const char *path, struct elf_file **ret_elf, struct error *err);

/* The offset of a byte that is in the file; `executable`: only in code. */
bool code_offset(const struct elf_file *elf, uint64_t address, bool executable,
		 uint64_t *ret_offset);

#endif
