/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The largest piece of code of a file that has no call frame information, though code before and
 * behind it has: where V8's builtins are, in files with and without symbols.
 */
#ifndef STACKTALLY_INTERPRETERS_BARE_CODE_H
#define STACKTALLY_INTERPRETERS_BARE_CODE_H

#include "elf/elf_file.h"

/*
 * Sets the first address of the piece and the one behind it (p_vaddr). 0; -ENODATA: there is none
 * of 512 KiB or more; -ENOMEM.
 */
int bare_code_find(const struct elf_file *elf, uint64_t *ret_begin, uint64_t *ret_end);

#endif
