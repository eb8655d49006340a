/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is read of each mapped file: whether it is ELF, its build-id and its loadable
 * segments. A confined child reads it, as the file may be hostile. Must not know: processes.
 */
#ifndef STACKTALLY_PROCESS_FILE_OUTLINE_H
#define STACKTALLY_PROCESS_FILE_OUTLINE_H

#include "confined/confined.h"
#include "elf/build_id.h"
#include "elf/load_segments.h"

struct file_outline {
	bool elf;
	uint32_t build_id_size; /* 0: none */
	uint8_t build_id[BUILD_ID_MAX];
	struct load_segments segments;
};

/* Nothing is known of a file that the child cannot read: it then counts as not ELF. */
void file_outline_read(struct confined *readers, int fd, struct file_outline *ret_outline);

#endif
