/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether anything that is loaded of a file may lead to an address of it: a call, a jump, a
 * pointer. Must not know: what is at that address.
 */
#ifndef STACKTALLY_ELF_ELF_REFERENCES_H
#define STACKTALLY_ELF_ELF_REFERENCES_H

#include "elf/elf_file.h"

/* Files with more bytes in their segments are not searched, which would take more than 20 ms. */
#define ELF_REFERENCES_MAX (16u << 20)

/*
 * False: nothing does. True: something does or looks as if it did, or that is not known, as in code
 * for another machine than x86-64. Exported functions are referred to by the symbol table.
 */
bool elf_may_lead_to(const struct elf_file *elf, uint64_t address);

#endif
