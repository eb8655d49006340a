/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is read of each mapped file: whether it is ELF, its build-id, its loadable segments, and
 * marks that somebody above puts to files. A confined child reads it, as the file
 * may be hostile. Must not know: processes.
 */
#ifndef STACKTALLY_FILES_FILE_OUTLINE_H
#define STACKTALLY_FILES_FILE_OUTLINE_H

#include "confined/confined.h"
#include "elf/build_id.h"
#include "elf/load_segments.h"

struct file_outline {
	bool elf;
	uint32_t build_id_size; /* 0: none */
	uint8_t build_id[BUILD_ID_MAX];
	uint32_t marks;
	struct load_segments segments;
};

/* Tells what is of interest in an ELF file, whose sections were not read: any bits. In a child. */
typedef uint32_t file_marker(const struct elf_file *elf);

/*
 * Nothing is known of a file that the child cannot read: it then counts as not ELF. Without a
 * marker (NULL), it has no marks.
 */
void file_outline_read(struct confined *readers, int fd, file_marker *marker,
		       struct file_outline *ret_outline);

#endif
