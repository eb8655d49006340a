/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads the call frame information of an ELF file: from its sections, compressed or not, or, in
 * files without sections, from where the segment PT_GNU_EH_FRAME tells unwinders. Must not know:
 * what the bytes mean.
 */
#ifndef STACKTALLY_CFI_FRAME_SECTIONS_H
#define STACKTALLY_CFI_FRAME_SECTIONS_H

#include "elf/elf_file.h"

/* Bytes, decompressed: several times what the largest programs have. */
#define FRAME_SECTION_MAX (64u << 20)

struct frame_bytes {
	uint8_t *bytes; /* the caller frees them */
	uint64_t size;
	uint64_t address; /* p_vaddr of the first byte */
};

/* 0; -ENODATA: there is none; -EIO: damaged; -EFBIG, -ENOMEM. */
int frame_sections_eh(const struct elf_file *elf, struct frame_bytes *ret_bytes);
int frame_sections_debug(const struct elf_file *elf, struct frame_bytes *ret_bytes);

#endif
