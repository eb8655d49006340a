/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the dynamic linker finds by PT_DYNAMIC. Also sections of files that have no section headers
 * (`strip --strip-section-headers`, sstrip), made of that, and one for each executable segment.
 * Must not know: symbols.
 */
#ifndef STACKTALLY_ELF_ELF_DYNAMIC_H
#define STACKTALLY_ELF_ELF_DYNAMIC_H

#include "elf/elf_file.h"

/* Addresses, and sizes in bytes; nothing was checked. 0: not there. */
struct elf_dynamic {
	uint64_t symbols, strings, strings_size, hash, gnu_hash, relocations, relocations_size;
};

void elf_dynamic_find(const struct elf_file *elf, struct elf_dynamic *ret_dynamic);

/* Reads what the file has for `size` bytes at an address. False: that is not in the file. */
bool elf_dynamic_read(const struct elf_file *elf, uint64_t address, void *bytes, size_t size);

/*
 * Gives a file without sections its .dynsym, .dynstr and .rela.plt, as far as they can be found,
 * and sections for its code. Numbers of sections in symbols mean nothing then. 0 or -ENOMEM.
 */
int elf_dynamic_sections(struct elf_file *elf);

#endif
