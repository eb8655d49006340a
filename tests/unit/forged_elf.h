/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ELF files put together in memory: one executable segment and a section of call frame
 * information, as bytes that a test writes one by one.
 */
#ifndef STACKTALLY_TESTS_UNIT_FORGED_ELF_H
#define STACKTALLY_TESTS_UNIT_FORGED_ELF_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

#define CODE_ADDRESS  0x1000u
#define CODE_SIZE     0x1000u
#define FRAME_ADDRESS 0x8000u
#define FRAME_OFFSET  0x400u

struct forged {
	uint8_t bytes[0x4000]; /* the file */
	uint8_t frame[0x2000]; /* the section */
	size_t n;	       /* its bytes */
	size_t entry;	       /* where the entry that is written begins */
};

static inline void put_bytes(struct forged *elf, const void *bytes, size_t n)
{
	memcpy(elf->frame + elf->n, bytes, n);
	elf->n += n;
}

/* put(elf, 1, 2, 3): so many bytes */
#define put(elf, ...)                                                                              \
	put_bytes(elf, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static inline void put_u32(struct forged *elf, uint32_t value)
{
	put_bytes(elf, &value, sizeof(value));
}

static inline void put_u64(struct forged *elf, uint64_t value)
{
	put_bytes(elf, &value, sizeof(value));
}

/* An entry of a length that end_entry() fills in. Returns its offset. */
static inline uint32_t begin_entry(struct forged *elf)
{
	elf->entry = elf->n;
	put_u32(elf, 0);
	return (uint32_t)elf->entry;
}

static inline void end_entry(struct forged *elf)
{
	uint32_t length = (uint32_t)(elf->n - elf->entry - 4);

	memcpy(elf->frame + elf->entry, &length, sizeof(length));
}

/* The file, as unwind_rows_compile_memory() takes it. `name` is the section's. */
static inline size_t finish_elf(struct forged *elf, const char *name)
{
	Elf64_Ehdr header = { .e_type = ET_DYN,
			      .e_machine = EM_X86_64,
			      .e_phoff = sizeof(Elf64_Ehdr),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = 1,
			      .e_shoff = 0x100,
			      .e_shentsize = sizeof(Elf64_Shdr),
			      .e_shnum = 3,
			      .e_shstrndx = 2 };
	Elf64_Phdr segment = { .p_type = PT_LOAD,
			       .p_flags = PF_R | PF_X,
			       .p_offset = 0x3000,
			       .p_vaddr = CODE_ADDRESS,
			       .p_filesz = 0x1000,
			       .p_memsz = CODE_SIZE };
	Elf64_Shdr sections[3] = {
		{ 0 },
		{ .sh_name = 1,
		  .sh_type = SHT_PROGBITS,
		  .sh_addr = FRAME_ADDRESS,
		  .sh_offset = FRAME_OFFSET,
		  .sh_size = elf->n },
		{ .sh_name = 0, .sh_type = SHT_STRTAB, .sh_offset = 0x300, .sh_size = 0x40 },
	};

	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	memcpy(elf->bytes, &header, sizeof(header));
	memcpy(elf->bytes + sizeof(header), &segment, sizeof(segment));
	memcpy(elf->bytes + 0x100, sections, sizeof(sections));
	strcpy((char *)elf->bytes + 0x301, name);
	memcpy(elf->bytes + FRAME_OFFSET, elf->frame, elf->n);
	return sizeof(elf->bytes);
}

#endif
