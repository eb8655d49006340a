// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/elf_dynamic.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TAGS    4096u
#define MAX_SYMBOLS (1u << 22) /* and buckets: bounds the time that a forged table takes */
#define MAX_CODE    16u	       /* executable segments */

enum { NO_SECTION, DYNSYM, DYNSTR, RELA_PLT, FIRST_CODE };

static const char names[] = "\0.dynsym\0.dynstr\0.rela.plt";

enum { NAME_DYNSYM = 1, NAME_DYNSTR = 9, NAME_RELA_PLT = 17 };

/* The offset in the file of an address. False: it is not in the file. */
static bool offset_of(const struct elf_file *elf, uint64_t address, uint64_t *ret_offset)
{
	for (uint32_t i = 0; i < elf->n_segments; i++) {
		const struct elf_segment *segment = &elf->segments[i];

		if (segment->type != PT_LOAD || address < segment->address ||
		    address - segment->address >= segment->file_size)
			continue;
		*ret_offset = segment->offset + (address - segment->address);
		return true;
	}
	return false;
}

bool elf_dynamic_read(const struct elf_file *elf, uint64_t address, void *bytes, size_t size)
{
	uint64_t offset;

	return offset_of(elf, address, &offset) && elf_file_read(elf, offset, bytes, size) == 0;
}

static void take_tag(struct elf_dynamic *dynamic, int64_t tag, uint64_t value)
{
	switch (tag) {
	case DT_SYMTAB:
		dynamic->symbols = value;
		break;
	case DT_STRTAB:
		dynamic->strings = value;
		break;
	case DT_STRSZ:
		dynamic->strings_size = value;
		break;
	case DT_HASH:
		dynamic->hash = value;
		break;
	case DT_GNU_HASH:
		dynamic->gnu_hash = value;
		break;
	case DT_JMPREL:
		dynamic->relocations = value;
		break;
	case DT_PLTRELSZ:
		dynamic->relocations_size = value;
		break;
	}
}

static void read_tags(const struct elf_file *elf, const struct elf_segment *segment,
		      struct elf_dynamic *dynamic)
{
	size_t entry = elf->is_64 ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
	uint64_t n = segment->file_size / entry;

	for (uint64_t i = 0; i < n && i < MAX_TAGS; i++) {
		uint64_t at = segment->offset + i * entry;
		Elf32_Dyn narrow;
		Elf64_Dyn wide;

		if (elf_file_read(elf, at, elf->is_64 ? (void *)&wide : &narrow, entry))
			return;
		if (!elf->is_64) {
			wide.d_tag = narrow.d_tag;
			wide.d_un.d_val = narrow.d_un.d_val;
		}
		if (wide.d_tag == DT_NULL)
			return;
		take_tag(dynamic, wide.d_tag, wide.d_un.d_val);
	}
}

/* The number of symbols by DT_GNU_HASH: behind the end of the chain that begins last. */
static uint64_t count_by_gnu_hash(const struct elf_file *elf, uint64_t address)
{
	uint64_t word = elf->is_64 ? 8 : 4, at;
	uint32_t head[4], last = 0, chain; /* buckets, first symbol, words of the filter, shift */

	if (!elf_dynamic_read(elf, address, head, sizeof(head)) || head[0] > MAX_SYMBOLS)
		return 0;
	at = address + sizeof(head) + head[2] * word;
	for (uint32_t i = 0; i < head[0]; i++, at += sizeof(uint32_t)) {
		uint32_t first;

		if (!elf_dynamic_read(elf, at, &first, sizeof(first)))
			return 0;
		last = first > last ? first : last;
	}
	if (last < head[1])
		return head[1];
	do {
		if (!elf_dynamic_read(elf, at + (last - head[1]) * sizeof(chain), &chain,
				      sizeof(chain)))
			return 0;
		last++;
	} while (!(chain & 1) && last - head[1] < MAX_SYMBOLS);
	return last;
}

static uint64_t count_symbols(const struct elf_file *elf, const struct elf_dynamic *dynamic)
{
	uint32_t hash[2]; /* buckets, symbols */

	if (dynamic->hash && elf_dynamic_read(elf, dynamic->hash, hash, sizeof(hash)))
		return hash[1];
	return dynamic->gnu_hash ? count_by_gnu_hash(elf, dynamic->gnu_hash) : 0;
}

static void set_section(const struct elf_file *elf, struct elf_section *section, uint32_t name,
			uint32_t type, uint64_t address, uint64_t size)
{
	uint64_t offset;

	if (!address || !size || !offset_of(elf, address, &offset))
		return;
	*section = (struct elf_section){ .address = address,
					 .offset = offset,
					 .size = size,
					 .flags = SHF_ALLOC,
					 .type = type,
					 .name = name };
}

static uint32_t set_code(const struct elf_file *elf, struct elf_section *sections)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < elf->n_segments && n < MAX_CODE; i++) {
		const struct elf_segment *segment = &elf->segments[i];

		if (segment->type == PT_LOAD && segment->flags & PF_X && segment->file_size)
			sections[n++] = (struct elf_section){ .address = segment->address,
							      .offset = segment->offset,
							      .size = segment->file_size,
							      .flags = SHF_ALLOC | SHF_EXECINSTR,
							      .type = SHT_PROGBITS };
	}
	return n;
}

void elf_dynamic_find(const struct elf_file *elf, struct elf_dynamic *ret_dynamic)
{
	*ret_dynamic = (struct elf_dynamic){ 0 };
	for (uint32_t i = 0; i < elf->n_segments; i++) {
		if (elf->segments[i].type == PT_DYNAMIC)
			read_tags(elf, &elf->segments[i], ret_dynamic);
	}
}

int elf_dynamic_sections(struct elf_file *elf)
{
	uint64_t entry = elf->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	own(own_free) struct elf_section *sections = NULL;
	struct elf_dynamic dynamic;

	elf_dynamic_find(elf, &dynamic);
	if (!dynamic.symbols)
		return 0;
	sections = calloc(FIRST_CODE + MAX_CODE, sizeof(*sections));
	if (!sections)
		return -ENOMEM;
	set_section(elf, &sections[DYNSYM], NAME_DYNSYM, SHT_DYNSYM, dynamic.symbols,
		    count_symbols(elf, &dynamic) * entry);
	set_section(elf, &sections[DYNSTR], NAME_DYNSTR, SHT_STRTAB, dynamic.strings,
		    dynamic.strings_size);
	set_section(elf, &sections[RELA_PLT], NAME_RELA_PLT, SHT_RELA, dynamic.relocations,
		    dynamic.relocations_size);
	sections[DYNSYM].link = DYNSTR;
	sections[RELA_PLT].link = DYNSYM;
	elf->section_names = malloc(sizeof(names));
	if (!elf->section_names)
		return -ENOMEM;
	memcpy(elf->section_names, names, sizeof(names));
	elf->section_names_size = sizeof(names);
	elf->n_sections = FIRST_CODE + set_code(elf, &sections[FIRST_CODE]);
	elf->sections = take_ptr(sections);
	return 0;
}
