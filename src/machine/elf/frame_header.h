/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * .eh_frame_hdr: the sorted table of where the functions of a file with call frame information
 * begin, which stripped files keep. Format: Linux Standard Base, Core, 10.6.2; the encodings are
 * those that GNU ld, gold and lld write.
 */
#ifndef STACKTALLY_ELF_FRAME_HEADER_H
#define STACKTALLY_ELF_FRAME_HEADER_H

#include "elf/elf_file.h"

struct frame_header {
	const struct elf_file *elf; /* borrowed */
	const struct elf_segment *segment;
	uint64_t n;    /* functions */
	void *entries; /* the table; NULL: read from the file each time */
};

/* An entry of the table: addresses (p_vaddr) of a function and of its FDE. Nothing was checked. */
struct frame_header_entry {
	uint64_t begin, fde;
};

/* False: the file has no such table, or one in another form. */
bool frame_header_open(const struct elf_file *elf, struct frame_header *ret_header);

/*
 * Loads the table, which makes many searches faster; a table above some megabytes is not. 0 or
 * -ENOMEM; frame_header_close() in any case.
 */
int frame_header_load(struct frame_header *header);
void frame_header_close(struct frame_header *header);

/* The last entry that begins at the address or below. False: there is none. */
bool frame_header_find(const struct frame_header *header, uint64_t address,
		       struct frame_header_entry *ret_entry);

/* Whether a function (an FDE) begins at the address. */
bool frame_header_begins_at(const struct elf_file *elf, uint64_t address);

#endif
