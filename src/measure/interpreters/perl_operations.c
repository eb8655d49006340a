// SPDX-License-Identifier: GPL-2.0-or-later
#include "interpreters/perl_operations.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"

#define OPERATIONS_MAX	1024 /* 5.44 has 429 */
#define NAME_MAX_BYTES	32
#define RELOCATIONS_MAX (16u << 20) /* bytes */

/* Addresses of the names; 0: not known. */
struct names {
	uint64_t at[OPERATIONS_MAX];
	uint32_t n;
};

/* The dynamic linker writes the pointers of files that may be anywhere, as relocations say. */
static int read_relocations(const struct elf_file *elf, uint64_t array, struct names *names)
{
	for (uint32_t i = 0; elf->is_64 && i < elf->n_sections; i++) {
		own(own_free) Elf64_Rela *them = NULL;
		int r;

		if (elf->sections[i].type != SHT_RELA)
			continue;
		r = elf_file_load(elf, &elf->sections[i], RELOCATIONS_MAX, (void **)&them);
		if (r == -ENOMEM)
			return r;
		for (size_t k = 0; r == 0 && k < elf->sections[i].size / sizeof(*them); k++) {
			uint64_t into = them[k].r_offset - array;

			if (ELF64_R_TYPE(them[k].r_info) == R_X86_64_RELATIVE &&
			    into / sizeof(uint64_t) < names->n && into % sizeof(uint64_t) == 0)
				names->at[into / sizeof(uint64_t)] = (uint64_t)them[k].r_addend;
		}
	}
	return 0;
}

/* Whether the file has the string at an address. */
static bool has_name(const struct elf_file *elf, uint64_t address, const char *name)
{
	size_t size = strlen(name) + 1;
	char found[NAME_MAX_BYTES];

	return address && size <= sizeof(found) &&
	       elf_exports_read(elf, address, found, size) == 0 && memcmp(found, name, size) == 0;
}

int perl_operations_find(const struct elf_file *elf, const struct elf_export *array,
			 struct perl_operation *operations, uint32_t n)
{
	own(own_free) struct names *names = calloc(1, sizeof(*names));
	uint32_t found = 0;
	int r;

	if (!names)
		return -ENOMEM;
	if (!array->address || array->size > sizeof(names->at))
		return -ENODATA;
	names->n = (uint32_t)(array->size / sizeof(names->at[0]));
	/* Without relocations the pointers are in the file. */
	if (elf_exports_read(elf, array->address, names->at, names->n * sizeof(names->at[0])) < 0)
		return -ENODATA;
	r = read_relocations(elf, array->address, names);
	for (uint32_t i = 0; r == 0 && i < names->n; i++)
		for (uint32_t k = 0; k < n; k++)
			if (has_name(elf, names->at[i], operations[k].name)) {
				operations[k].number = i;
				found++;
			}
	return r < 0 ? r : found == n ? 0 : -ENODATA;
}
