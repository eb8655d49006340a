/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User probes: whether an ELF file can be probed, and the offset in the file, which the kernel
 * wants, of an address that a symbol or a note gives.
 */
#ifndef STACKTALLY_ELF_CODE_FILE_H
#define STACKTALLY_ELF_CODE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "elf/elf_file.h"

/*
 * Opens a program or shared library for this machine; `path` is for the message. 0, or a negative
 * errno: -ENOEXEC when it is another kind of file.
 */
int code_file_open(int fd, const char *path, struct elf_file **ret_elf, struct error *err);

/* False: the address is in no byte of the file, or, with `executable`, not in code. */
bool code_file_offset(const struct elf_file *elf, uint64_t address, bool executable,
		      uint64_t *ret_offset);

#endif
