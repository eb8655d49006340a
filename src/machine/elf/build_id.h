/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The GNU build-id of an ELF file: the content of a note of type NT_GNU_BUILD_ID.
 *
 * An id that does not fit in the caller's room counts as none, as for the kernel (lib/buildid.c):
 * part of an id would be the id of other files, too. Must not know: processes.
 */
#ifndef STACKTALLY_ELF_BUILD_ID_H
#define STACKTALLY_ELF_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

#define BUILD_ID_MAX 20 /* bytes: BUILD_ID_SIZE_MAX of the kernel */

/*
 * Reads the notes of a file's segments; `fd` is a regular file. Returns the size of the id, 0 when
 * there is none, -ENOEXEC when it is no ELF file, or another negative errno.
 */
int build_id_read(int fd, uint8_t ret_id[BUILD_ID_MAX]);

/* Those of segments, then those of sections, which debug files have. The size of the id, or 0. */
uint32_t build_id_of(const struct elf_file *elf, uint8_t *ret_id, uint32_t capacity);

/* The size of the id among notes in memory, or 0. */
uint32_t build_id_in_notes(const void *notes, size_t size, uint8_t *ret_id, uint32_t capacity);

#endif
