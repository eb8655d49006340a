/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The executable segments of an ELF file, by address, and their bytes. The file must stay open.
 * Must not know: what the code means.
 */
#ifndef STACKTALLY_CFI_CODE_VIEW_H
#define STACKTALLY_CFI_CODE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/elf_file.h"

#define CODE_MAX_SEGMENTS 64

struct code_view {
	const struct elf_file *elf;
	uint32_t n;
	struct code_segment {
		uint64_t begin, end; /* p_vaddr, begin < end */
		uint64_t offset;     /* of `begin` in the file */
		uint64_t file_size;
	} segments[CODE_MAX_SEGMENTS];
};

/* Of the code below `limit`. */
void code_view_open(struct code_view *code, const struct elf_file *elf, uint64_t limit);

/* The segment that contains the address, or NULL. */
const struct code_segment *code_view_segment(const struct code_view *code, uint64_t address);

/* Reads up to `size` bytes of code; returns how many were read, 0 on failure. */
size_t code_view_read(const struct code_view *code, uint64_t address, uint8_t *bytes, size_t size);

#endif
