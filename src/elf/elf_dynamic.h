/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sections of files that have no section headers (`strip --strip-section-headers`, sstrip): those
 * that the dynamic linker finds by PT_DYNAMIC, and one for each executable segment. Must not know:
 * symbols.
 */
#ifndef STACKTALLY_ELF_ELF_DYNAMIC_H
#define STACKTALLY_ELF_ELF_DYNAMIC_H

#include "elf/elf_file.h"

/*
 * Gives a file without sections its .dynsym, .dynstr and .rela.plt, as far as they can be found,
 * and sections for its code. Numbers of sections in symbols mean nothing then. 0 or -ENOMEM.
 */
int elf_dynamic_sections(struct elf_file *elf);

#endif
