/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the loadable parts of an ELF file lie in it, and at which addresses of its own: what turns
 * the address of a mapping into one of the file. p_vaddr and p_offset differ as linkers like, and
 * a file may have several executable parts. Must not know: processes.
 */
#ifndef STACKTALLY_ELF_LOAD_SEGMENTS_H
#define STACKTALLY_ELF_LOAD_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_LOAD_SEGMENTS 16 /* those behind them are not seen */

struct load_segment {
	uint64_t offset, size, address;
	bool executable;
};

struct load_segments {
	struct load_segment at[MAX_LOAD_SEGMENTS];
	uint32_t n;
};

/* 0, -ENOEXEC, -EIO or -ENOMEM. The descriptor is of a regular file. */
int load_segments_read(int fd, struct load_segments *ret_segments);
int load_segments_read_memory(const void *bytes, size_t size, struct load_segments *ret_segments);

/*
 * What to subtract from the addresses of an executable mapping that begins at `start` and holds
 * the file from `offset` on. Modulo 2^64. False when no segment is there.
 */
bool load_segments_bias(const struct load_segments *segments, uint64_t start, uint64_t offset,
			uint64_t *ret_bias);

#endif
