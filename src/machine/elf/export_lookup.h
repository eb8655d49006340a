/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols that an ELF file exports, by the hash table that the dynamic linker uses: some reads
 * of a few bytes, however large the file is. It may be hostile, so chains are followed only so far.
 * Sections need not have been read. Must not know: what the symbols mean.
 */
#ifndef STACKTALLY_ELF_EXPORT_LOOKUP_H
#define STACKTALLY_ELF_EXPORT_LOOKUP_H

#include <elf.h>

#include "elf/elf_dynamic.h"

struct export_lookup {
	const struct elf_file *elf;
	struct elf_dynamic dynamic;
	/* The heads of DT_GNU_HASH and DT_HASH; without buckets there is no such table. */
	uint32_t n_buckets, first, n_filter, shift;
	uint32_t n_old_buckets;
};

/* Borrows the file. A file without such tables exports nothing. */
void export_lookup_open(struct export_lookup *lookup, const struct elf_file *elf);

/* Whether there is such a table. */
bool export_lookup_is_there(const struct export_lookup *lookup);

/* Gives the symbol that the file defines by that name, of 255 bytes at most. False: none. */
bool export_lookup_find(const struct export_lookup *lookup, const char *name,
			Elf64_Sym *ret_symbol);

/* Whether the file defines the symbol. */
bool export_lookup_has(const struct export_lookup *lookup, const char *name);

#endif
