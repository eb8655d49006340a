// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The row compiler. The first byte of the input is the kind of the rest: .eh_frame, .debug_frame,
 * .gopclntab, a whole ELF file (in which sections are compressed, missing ...), or code without any
 * unwind information.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "cfi/unwind_rows.h"

#define MAX_INPUT (1u << 16)
#define FRAME_AT  0x400u
#define CODE_SIZE 0x100000u
#define NAMES	  "\0.eh_frame\0.debug_frame\0.gopclntab\0.shstrtab"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file whose only section is the input (none if `name` is 0), which is its code, too. */
static size_t wrap(uint8_t *file, uint32_t name, const uint8_t *data, size_t size)
{
	Elf64_Ehdr header = { .e_ident = ELFMAG,
			      .e_type = ET_DYN,
			      .e_machine = EM_X86_64,
			      .e_entry = 0x1000,
			      .e_phoff = sizeof(Elf64_Ehdr),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = 1,
			      .e_shoff = 0x100,
			      .e_shentsize = sizeof(Elf64_Shdr),
			      .e_shnum = name ? 3 : 0,
			      .e_shstrndx = name ? 2 : 0 };
	Elf64_Phdr segment = { .p_type = PT_LOAD,
			       .p_flags = PF_R | PF_X,
			       .p_offset = FRAME_AT,
			       .p_vaddr = 0x1000,
			       .p_filesz = size,
			       .p_memsz = CODE_SIZE };
	Elf64_Shdr sections[3] = {
		{ 0 },
		{ .sh_name = name,
		  .sh_type = SHT_PROGBITS,
		  .sh_addr = 0x200000,
		  .sh_offset = FRAME_AT,
		  .sh_size = size },
		{ .sh_name = 35,
		  .sh_type = SHT_STRTAB,
		  .sh_offset = 0x300,
		  .sh_size = sizeof(NAMES) },
	};

	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	memcpy(file, &header, sizeof(header));
	memcpy(file + sizeof(header), &segment, sizeof(segment));
	memcpy(file + 0x100, sections, sizeof(sections));
	memcpy(file + 0x300, NAMES, sizeof(NAMES));
	memcpy(file + FRAME_AT, data, size);
	return FRAME_AT + size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t names[] = { 1, 11, 24, 0, 0 };
	static uint8_t file[FRAME_AT + MAX_INPUT];
	static struct rule_table *rules; /* of all inputs, as of all files */
	struct unwind_rows rows;
	uint32_t n_rules;
	uint8_t kind;

	if (!size || size > MAX_INPUT || (!rules && rule_table_new(&rules)))
		return 0;
	kind = data[0] % 5;
	data++;
	size--;
	if (kind != 3) {
		size = wrap(file, names[kind], data, size);
		data = file;
	}
	if (!unwind_rows_compile_memory(data, size, rules, &rows, NULL)) {
		rule_table_rules(rules, &n_rules);
		for (uint32_t i = 0; i < rows.n; i++) {
			if (rows.rows[i].rule >= n_rules ||
			    (i ? rows.rows[i].address <= rows.rows[i - 1].address ||
					     rows.rows[i].rule == rows.rows[i - 1].rule
			       : rows.rows[i].rule == RULE_GAP))
				abort();
		}
		if (rows.n && rows.rows[rows.n - 1].rule != RULE_GAP)
			abort();
		unwind_rows_free(&rows);
	}
	rule_table_rules(rules, &n_rules);
	if (n_rules == WIRE_MAX_RULES && rule_table_refused(rules) > 1000) {
		rule_table_free(rules);
		rules = NULL;
	}
	return 0;
}
