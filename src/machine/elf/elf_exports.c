// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/elf_exports.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "elf/export_lookup.h"

#define TABLE_MAX (64u << 20) /* bytes of symbols, and of names */

#define NONE UINT32_MAX

/* Names by a hash of two of their bytes: a file may have a million symbols. */
struct wanted {
	struct elf_export *exports;
	uint32_t first[256];
};

static uint8_t hash_of(const char *name)
{
	size_t size = strlen(name);

	return size ? (uint8_t)(name[size - 1] * 31 + name[size / 2]) : 0;
}

static void match(const struct wanted *wanted, const char *name, const Elf64_Sym *symbol)
{
	uint32_t i = wanted->first[hash_of(name)];

	for (; i != NONE; i = wanted->exports[i].next) {
		struct elf_export *export = &wanted->exports[i];

		if (export->address || strcmp(export->name, name) != 0)
			continue;
		export->address = symbol->st_value;
		export->size = symbol->st_size;
	}
}

static int find_in(const struct elf_file *elf, uint32_t type, const struct wanted *wanted)
{
	const struct elf_section *table = elf_file_section_of_type(elf, type);
	own(own_free) void *symbols = NULL;
	own(own_free) void *names = NULL;
	const struct elf_section *strings;
	int r;

	if (!table || table->link >= elf->n_sections)
		return 0;
	strings = &elf->sections[table->link];
	r = elf_file_load(elf, table, TABLE_MAX, &symbols);
	if (r == 0)
		r = elf_file_load(elf, strings, TABLE_MAX, &names);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (((const char *)names)[strings->size - 1])
		return 0;
	for (uint64_t i = 0; i < table->size / sizeof(Elf64_Sym); i++) {
		const Elf64_Sym *symbol = (const Elf64_Sym *)symbols + i;

		if (symbol->st_shndx != SHN_UNDEF && symbol->st_name < strings->size)
			match(wanted, (const char *)names + symbol->st_name, symbol);
	}
	return 0;
}

static void clear(struct elf_export *exports, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		exports[i].address = exports[i].size = 0;
}

/* As elf_exports_look_up(), in a table that is there. */
static uint32_t look_up(const struct export_lookup *lookup, struct elf_export *exports, uint32_t n,
			uint32_t needed)
{
	uint32_t missing = 0;

	clear(exports, n);
	for (uint32_t i = 0; i < n; i++) {
		Elf64_Sym symbol;

		if (!exports[i].name[0])
			continue;
		if (export_lookup_find(lookup, exports[i].name, &symbol)) {
			exports[i].address = symbol.st_value;
			exports[i].size = symbol.st_size;
		}
		missing += !exports[i].address && i < needed;
	}
	return missing;
}

uint32_t elf_exports_look_up(const struct elf_file *elf, struct elf_export *exports, uint32_t n,
			     uint32_t needed)
{
	struct export_lookup lookup;

	export_lookup_open(&lookup, elf);
	return look_up(&lookup, exports, n, needed);
}

int elf_exports_find(const struct elf_file *elf, struct elf_export *exports, uint32_t n)
{
	struct wanted wanted = { .exports = exports };
	struct export_lookup lookup;
	int r;

	clear(exports, n);
	if (!elf->is_64)
		return 0;
	export_lookup_open(&lookup, elf);
	if (export_lookup_is_there(&lookup) && !look_up(&lookup, exports, n, n))
		return 0;
	memset(wanted.first, 0xff, sizeof(wanted.first));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t *first = &wanted.first[hash_of(exports[i].name)];

		exports[i].next = *first;
		*first = i;
	}
	r = export_lookup_is_there(&lookup) ? 0 : find_in(elf, SHT_DYNSYM, &wanted);
	return r < 0 ? r : find_in(elf, SHT_SYMTAB, &wanted);
}

int elf_exports_read(const struct elf_file *elf, uint64_t address, void *bytes, size_t size)
{
	for (uint32_t i = 0; i < elf->n_segments; i++) {
		const struct elf_segment *segment = &elf->segments[i];
		uint64_t into = address - segment->address;

		if (segment->type == PT_LOAD && address >= segment->address &&
		    into < segment->file_size && size <= segment->file_size - into)
			return elf_file_read(elf, segment->offset + into, bytes, size);
	}
	return -ENODATA;
}
