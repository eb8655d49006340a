/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The versions of symbols that an ELF file defines and needs (.gnu.version_d, .gnu.version_r).
 * `foo` may be two functions: foo@@V_2, the default version, which programs that are linked today
 * get, and foo@V_1, for those that were linked before. .symtab has the version in the name, .dynsym
 * has it in .gnu.version.
 */
#ifndef STACKTALLY_ELF_ELF_VERSIONS_H
#define STACKTALLY_ELF_ELF_VERSIONS_H

#include "base/own.h"
#include "elf/elf_file.h"

struct elf_versions {
	char *strings; /* of the section that versions are named in */
	struct elf_version {
		const char *name; /* in `strings` */
		uint16_t index;
	} * versions; /* those that the file defines come first */
	uint32_t n_defined, n, capacity;
};

#define ELF_VERSIONS_NONE ((struct elf_versions){ 0 })

/* Reads the versions of a file. Of what is damaged there are none. 0 or -ENOMEM. */
int elf_versions_read(const struct elf_file *elf, struct elf_versions *ret_versions);
void elf_versions_free(struct elf_versions *versions);

enum elf_version_kind {
	ELF_VERSION_NONE,    /* any @ is a part of the name, as in Crystal's */
	ELF_VERSION_DEFAULT, /* or one of another file */
	ELF_VERSION_OTHER,   /* two functions of one name are told apart by it */
};

/* The kind of version that ends `name`, and the length of the name without it. */
enum elf_version_kind elf_versions_split(const struct elf_versions *versions, const char *name,
					 size_t *ret_length);

/* The version by its entry in .gnu.version, if it is ELF_VERSION_OTHER; else NULL. */
const char *elf_versions_other(const struct elf_versions *versions, uint16_t entry);

/* The version that the file defines a symbol in, by the same entry; NULL: in none. */
const char *elf_versions_defined(const struct elf_versions *versions, uint16_t entry);

/* Reads entries [first, first + n) of .gnu.version for a table of symbols; false: it has none. */
bool elf_versions_entries(const struct elf_file *elf, const struct elf_section *symbols,
			  uint64_t first, uint16_t *entries, size_t n);

#endif
