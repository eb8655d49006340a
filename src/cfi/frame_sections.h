/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the call frame information of an ELF file is, and its bytes: sections, compressed or not,
 * or, in files without sections, the segment that unwinders find it by. Must not know: what the
 * bytes say.
 */
#ifndef STACKTALLY_CFI_FRAME_SECTIONS_H
#define STACKTALLY_CFI_FRAME_SECTIONS_H

#include "elf/elf_file.h"

/* The most bytes of a section, decompressed: several times what the largest programs have. */
#define FRAME_SECTION_MAX (64u << 20)

struct frame_bytes {
	uint8_t *bytes; /* the caller frees them */
	uint64_t size;
	uint64_t address; /* of the first one in memory */
};

/* 0; -ENODATA when there is none; -EFBIG, -EIO (damaged), -ENOMEM. */
int frame_sections_eh(const struct elf_file *elf, struct frame_bytes *ret_bytes);
int frame_sections_debug(const struct elf_file *elf, struct frame_bytes *ret_bytes);

#endif
