/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses of symbols by their names, of an ELF file that may be hostile: from .dynsym, or if it
 * lacks one, from .symtab.
 */
#ifndef STACKTALLY_ELF_ELF_EXPORTS_H
#define STACKTALLY_ELF_ELF_EXPORTS_H

#include "elf/elf_file.h"

struct elf_export {
	const char *name;
	uint64_t address, size; /* both 0: there is no such symbol */
	uint32_t next;		/* of elf_exports_find() */
};

/*
 * Sets the addresses and sizes of those of `n` symbols that the hash table of .dynsym leads to:
 * some reads, however large the file is. Returns how many of the first `needed` are not there.
 */
uint32_t elf_exports_look_up(const struct elf_file *elf, struct elf_export *exports, uint32_t n,
			     uint32_t needed);

/*
 * Sets the addresses and sizes of `n` symbols. Reads all of .symtab if one is not exported. 0 or
 * -ENOMEM.
 */
int elf_exports_find(const struct elf_file *elf, struct elf_export *exports, uint32_t n);

/* Reads what the file has for `size` bytes at an address. 0; -ENODATA: nothing; or -EIO. */
int elf_exports_read(const struct elf_file *elf, uint64_t address, void *bytes, size_t size);

#endif
