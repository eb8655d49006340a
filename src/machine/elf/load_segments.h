/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loadable segments of an ELF file: their offsets in the file and the addresses they were
 * linked for, which together turn the address of a mapping into one of the file. Linkers choose
 * p_vaddr and p_offset independently, and a file may have several executable segments.
 * Must not know: processes.
 */
#ifndef STACKTALLY_ELF_LOAD_SEGMENTS_H
#define STACKTALLY_ELF_LOAD_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

#define MAX_LOAD_SEGMENTS 16 /* further ones are ignored */

struct load_segment {
	uint64_t offset, size; /* in the file, bytes */
	uint64_t memory;       /* p_memsz, at least `size` */
	uint64_t address;      /* p_vaddr */
	bool executable;
};

struct load_segments {
	struct load_segment at[MAX_LOAD_SEGMENTS];
	uint32_t n;
};

/* 0; -ENOEXEC: not a regular file, or not an ELF file; or another negative errno. */
int load_segments_read(int fd, struct load_segments *ret_segments);
int load_segments_read_memory(const void *bytes, size_t size, struct load_segments *ret_segments);

/*
 * Files of prelink lie above 4 GiB, more than the addresses of unwinding tables can tell. Subtracts
 * from all addresses of the segments, or of a file and its sections, the lowest one, if that puts
 * them below; the same of both. Returns what was subtracted.
 */
uint64_t load_segments_lower(struct load_segments *segments);
void load_segments_lower_file(struct elf_file *elf);

/*
 * The bias of a mapping that begins at `start` and holds the file from `offset` on: what to
 * subtract from its addresses, modulo 2^64, to get those of the file. False: no segment is there.
 */
bool load_segments_bias(const struct load_segments *segments, uint64_t start, uint64_t offset,
			uint64_t *ret_bias);

#endif
